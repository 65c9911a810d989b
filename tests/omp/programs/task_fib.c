// Fibonacci numbers by tasks and taskwait, with and without a cut-off.
#include "check.h"

static int fib(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b) if (n > 5)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(void) {
  int result = 0;
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel
    {
#pragma omp single
      result = fib(18);
    }
    CHECK_EQUAL(result, 2584);
  }
  return FINISHED();
}
