// Untied tasks with scheduling points inside give the same results.
#include "check.h"

static int count(int depth) {
  if (depth == 0) return 1;
  int a = 0, b = 0;
#pragma omp task untied shared(a)
  a = count(depth - 1);
#pragma omp taskyield
#pragma omp task untied shared(b)
  b = count(depth - 1);
#pragma omp taskwait
  return a + b;
}

int main(void) {
  int sum = 0, result = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task untied shared(sum)
    for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(i) shared(sum)
      {
#pragma omp atomic
        sum += i;
      }
      if (i % 10 == 0) {
#pragma omp taskyield
      }
    }
#pragma omp task untied shared(result)
    result = count(8);
  }
  CHECK_EQUAL(sum, 4950);
  CHECK_EQUAL(result, 256);
  return FINISHED();
}
