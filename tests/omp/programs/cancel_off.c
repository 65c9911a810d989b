// Without OMP_CANCELLATION cancel does nothing.
// env: OMP_CANCELLATION=false
#include "check.h"

int main(void) {
  CHECK(!omp_get_cancellation());
  int count = 0, tasks = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp for reduction(+ : count)
    for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (i == 10)
      ++count;
    }
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(tasks)
      {
#pragma omp cancel taskgroup
#pragma omp atomic
        ++tasks;
      }
    }
  }
  CHECK_EQUAL(count, 100);
  CHECK_EQUAL(tasks, 10);
  return FINISHED();
}
