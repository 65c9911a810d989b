// Threads that spin, more of them than processors, come to every barrier.
// env: OMP_WAIT_POLICY=active OMP_NUM_THREADS=4
#include "check.h"

int main(void) {
  int sum = 0;
  for (int round = 0; round < 5; ++round) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 60; ++i) ++sum;
  }
  CHECK_EQUAL(sum, 300);
  return FINISHED();
}
