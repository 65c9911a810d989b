// A barrier in the program's own code whose waiters do nothing but look: in a team larger than the processors some of
// those that look have to be preempted.
#include "check.h"

enum { size = 6, rounds = 3 };
static int arrived, phase;

static void spin_barrier(void) {
  const int now = __atomic_load_n(&phase, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == size) {
    __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&phase, now + 1, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) == now) {
    }
  }
}

int main(void) {
  omp_set_dynamic(0);
  int sum = 0;
#pragma omp parallel num_threads(size)
  {
    for (int i = 1; i <= rounds; ++i) {
#pragma omp atomic
      ++sum;
      spin_barrier();
      int now;
#pragma omp atomic read
      now = sum;
      CHECK_EQUAL(now, i * size);
      spin_barrier();
    }
  }
  return FINISHED();
}
