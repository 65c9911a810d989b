// Tasks outside of any region, in regions of one thread, and in serialised inner regions.
#include "check.h"

static int walk(int depth) {
  if (depth == 0) return 1;
  int a = 0, b = 0;
#pragma omp task shared(a)
  a = walk(depth - 1);
#pragma omp task shared(b)
  b = walk(depth - 1);
#pragma omp taskwait
  return a + b;
}

int main(void) {
  CHECK_EQUAL(walk(8), 256);
  int result = 0;
#pragma omp parallel num_threads(1)
  result = walk(8);
  CHECK_EQUAL(result, 256);
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(3) reduction(+ : result)
  {
#pragma omp parallel num_threads(2) reduction(+ : result)
    result += walk(5);
  }
  CHECK_EQUAL(result, 256 + 3 * 32);
  int sum = 0;
#pragma omp taskloop shared(sum)
  for (int i = 0; i < 10; ++i) {
#pragma omp atomic
    sum += i;
  }
  CHECK_EQUAL(sum, 45);
  return FINISHED();
}
