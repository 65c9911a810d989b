// The same as spin_barrier.c with waiters that call sched_yield, as many libraries have them.
#include <sched.h>

#include "check.h"
#include "spin.h"

enum { size = 6, rounds = 30 };

static void between(void) { sched_yield(); }

int main(void) {
  omp_set_dynamic(0);
  int sum = 0;
#pragma omp parallel num_threads(size)
  {
    for (int i = 1; i <= rounds; ++i) {
#pragma omp atomic
      ++sum;
      spin_barrier(size, between);
      int now;
#pragma omp atomic read
      now = sum;
      CHECK_EQUAL(now, i * size);
      spin_barrier(size, between);
    }
  }
  return FINISHED();
}
