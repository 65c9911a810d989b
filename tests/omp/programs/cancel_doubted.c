// cancel with an if clause that is false goes on, and a loop that is cancelled drops what nobody has begun.
// env: OMP_CANCELLATION=true
#include "check.h"

int main(void) {
  int sum = 0, last = -1;
#pragma omp parallel num_threads(3)
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (i < 0)
      ++sum;
    }
  }
  CHECK_EQUAL(sum, 100);
#pragma omp parallel num_threads(1)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; ++i) {
      if (i == 5) {
#pragma omp cancel for
      }
      last = i;
    }
  }
  CHECK_EQUAL(last, 4);
  return FINISHED();
}
