// taskloop: grain size, number of tasks, collapse, nogroup, types and odd bounds, lastprivate.
#include <limits.h>

#include "check.h"

int main(void) {
  static int seen[2000];
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < 100; ++i) seen[i]++;
#pragma omp taskloop grainsize(7)
    for (int i = 100; i < 223; ++i) seen[i]++;
#pragma omp taskloop num_tasks(5)
    for (long i = 322; i >= 223; --i) seen[i]++;
#pragma omp taskloop collapse(2) num_tasks(3)
    for (int i = 0; i < 7; ++i)
      for (unsigned j = 0; j < 11; ++j) seen[400 + i * 11 + j]++;
    for (int i = 0; i < 100; ++i) CHECK_EQUAL(seen[i], 1);
    for (int i = 323; i < 400; ++i) CHECK_EQUAL(seen[i], 0);
#pragma omp taskgroup
    {
#pragma omp taskloop nogroup grainsize(10)
      for (int i = 500; i < 700; i += 3) seen[i]++;
#pragma omp taskloop nogroup
      for (unsigned long long i = ULLONG_MAX - 99; i < ULLONG_MAX; ++i) seen[700 + (ULLONG_MAX - i)]++;
    }
#pragma omp taskloop
    for (int i = 0; i < 0; ++i) seen[1999]++;
    int last = -1, first = 5;
#pragma omp taskloop lastprivate(last) firstprivate(first) grainsize(3)
    for (int i = 0; i < 50; ++i) {
      CHECK_EQUAL(first, 5);
      last = i;
    }
    CHECK_EQUAL(last, 49);
#pragma omp taskloop simd
    for (int i = 900; i < 1000; ++i) seen[i]++;
#pragma omp taskloop if (0)
    for (int i = 1000; i < 1100; ++i) seen[i]++;
#pragma omp taskloop priority(3) final(1) untied mergeable
    for (int i = 1100; i < 1200; ++i) seen[i]++;
  }
  for (int i = 0; i < 323; ++i) CHECK_EQUAL(seen[i], 1);
  for (int i = 400; i < 477; ++i) CHECK_EQUAL(seen[i], 1);
  for (int i = 500; i < 700; ++i) CHECK_EQUAL(seen[i], (i - 500) % 3 == 0);
  for (int i = 701; i < 800; ++i) CHECK_EQUAL(seen[i], 1);
  for (int i = 900; i < 1200; ++i) CHECK_EQUAL(seen[i], 1);
  CHECK_EQUAL(seen[1999], 0);
  return FINISHED();
}
