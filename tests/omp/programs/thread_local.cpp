// thread_local objects: one for each member, made when it first uses it, the same in the next region.
#include "check.h"

static int made;

struct counted {
  int value;
  counted() : value(0) { __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED); }
};
static thread_local counted own;
static thread_local int plain = 3;

int main() {
  omp_set_dynamic(0);
  const counted* const initial = &own;
  for (int round = 0; round < 6; ++round) {
#pragma omp parallel num_threads(4)
    {
      if (omp_get_thread_num() == 0) CHECK(&own == initial);
      CHECK_EQUAL(own.value, round * (omp_get_thread_num() + 1));
      own.value += omp_get_thread_num() + 1;
      CHECK_EQUAL(plain, round == 0 ? 3 : omp_get_thread_num());
      plain = omp_get_thread_num();
#pragma omp barrier
      CHECK_EQUAL(plain, omp_get_thread_num());
    }
  }
  CHECK_EQUAL(made, 4);
  return FINISHED();
}
