// copyin gives the master's value to all; copyprivate that of one.
#include "check.h"

static int own;
static struct {
  int values[20];
} block;
#pragma omp threadprivate(own, block)

int main(void) {
  omp_set_dynamic(0);
  for (int round = 1; round <= 10; ++round) {
    own = round;
    for (int i = 0; i < 20; ++i) block.values[i] = round * i;
#pragma omp parallel copyin(own, block) num_threads(5)
    {
      CHECK_EQUAL(own, round);
      for (int i = 0; i < 20; ++i) CHECK_EQUAL(block.values[i], round * i);
#pragma omp barrier
      own = -omp_get_thread_num();
#pragma omp barrier
      CHECK_EQUAL(own, -omp_get_thread_num());
#pragma omp single copyprivate(own)
      own = 1000 + round;
      CHECK_EQUAL(own, 1000 + round);
    }
    CHECK_EQUAL(own, 1000 + round);
  }
  return FINISHED();
}
