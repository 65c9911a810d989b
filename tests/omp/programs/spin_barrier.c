// A barrier in the program's own code whose waiters do nothing but look: in a team larger than the processors some of
// those that look have to be preempted.
#include "check.h"
#include "spin.h"

enum { size = 6, rounds = 3 };

static void between(void) {}

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
