// Members of nested regions that hand a token round all regions: any of them may be the one that all others wait for.
// env: OMP_MAX_ACTIVE_LEVELS=2 OMP_DYNAMIC=false
#include <sched.h>

#include "check.h"

enum { outer = 3, inner = 3, rounds = 4 };

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
        while (__atomic_load_n(&token, __ATOMIC_ACQUIRE) != turn) sched_yield();
        __atomic_store_n(&token, turn + 1, __ATOMIC_RELEASE);
      }
    }
  }
  CHECK_EQUAL(token, outer * inner * rounds);
  return FINISHED();
}
