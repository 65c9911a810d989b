// omp_pause_resource_all gives resources back, and the next region has them again.
// oracle: not libomp: fails an assertion in the region after a hard pause
#include "check.h"

int main(void) {
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += 1;
    CHECK_EQUAL(omp_pause_resource_all(i % 2 == 0 ? omp_pause_soft : omp_pause_hard), 0);
  }
  CHECK(sum >= 4 && sum <= 12);
  return FINISHED();
}
