// taskloop with strict grain sizes and numbers of tasks.
#include "check.h"

int main(void) {
  int tasks[30] = {0};
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(strict : 7)
  for (int i = 0; i < 100; ++i) {
#pragma omp atomic
    tasks[i / 7]++;
  }
  for (int i = 0; i < 14; ++i) CHECK_EQUAL(tasks[i], 7);
  CHECK_EQUAL(tasks[14], 2);
  int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop num_tasks(strict : 9) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
  CHECK_EQUAL(sum, 4950);
  return FINISHED();
}
