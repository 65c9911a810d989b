// Threads that do not spin come to every barrier.
// env: OMP_WAIT_POLICY=passive OMP_NUM_THREADS=6 KMP_BLOCKTIME=0 GOMP_SPINCOUNT=0
#include "check.h"

int main(void) {
  int sum = 0;
  for (int round = 0; round < 50; ++round) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 60; ++i) ++sum;
  }
  CHECK_EQUAL(sum, 3000);
  return FINISHED();
}
