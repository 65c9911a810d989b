// Fibonacci without a cutoff: a task for one branch, a call for the other, as in bench/fib; so ns per task = time /
// (F(n+1) - 1), the calls included.
#include <omp.h>

#include "bench.h"

// Not flattened: gcc would inline it into itself seven levels deep, which is another program.
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noinline, optimize("no-inline")))
#else
__attribute__((noinline))
#endif
static unsigned long
below(unsigned n) {
  if (n < 2) return n;
  unsigned long a = 0;
#pragma omp task default(none) shared(a) firstprivate(n)
  a = below(n - 1);
  const unsigned long b = below(n - 2);
#pragma omp taskwait
  return a + b;
}

bool fib(int threads, size_t n, size_t* units) {
  unsigned long result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  result = below((unsigned)n);
  unsigned long before = 0, expected = 1, next = 1;  // F(0), F(1), F(2)
  for (size_t i = 1; i < n; ++i) {
    before = expected;
    expected = next;
    next = before + expected;
  }
  *units = next - 1;
  return result == expected;
}
