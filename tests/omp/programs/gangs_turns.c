// Members of nested regions, each larger than the workers, hand a token round all regions and do nothing but look
// meanwhile. So gangs have to take turns.
// env: HEDDLE_OMP_TEAMS=gang HEDDLE_WORKERS=3 OMP_MAX_ACTIVE_LEVELS=2
#include "check.h"

enum { outer = 3, inner = 4, rounds = 3 };

int main(void) {
  int token = 0;
#pragma omp parallel num_threads(outer)
  {
    const int mine = omp_get_thread_num() * inner;
#pragma omp parallel num_threads(inner)
    {
      const int me = mine + omp_get_thread_num();
      for (int round = 0; round < rounds; ++round) {
        const int turn = round * outer * inner + me;
        while (__atomic_load_n(&token, __ATOMIC_ACQUIRE) != turn) {
        }
        __atomic_store_n(&token, turn + 1, __ATOMIC_RELEASE);
      }
    }
  }
  CHECK_EQUAL(token, outer * inner * rounds);
  return FINISHED();
}
