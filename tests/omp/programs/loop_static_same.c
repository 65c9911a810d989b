// Two static loops of equal length give equal iterations to equal members, so no barrier is needed between them.
#include "check.h"

int main(void) {
  enum { n = 997 };
  static int a[n], owner[n];
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
      for (int i = 0; i < n; ++i) owner[i] = omp_get_thread_num(), a[i] = i;
#pragma omp for schedule(static)
      for (int i = 0; i < n; ++i) {
        CHECK_EQUAL(owner[i], omp_get_thread_num());
        a[i] *= 2;
      }
#pragma omp for schedule(static, 5)
      for (int i = 0; i < n; ++i) CHECK_EQUAL(i / 5 % omp_get_num_threads(), omp_get_thread_num());
    }
    for (int i = 0; i < n; ++i) CHECK_EQUAL(a[i], 2 * i);
    for (int i = 1; i < n; ++i) CHECK(owner[i] >= owner[i - 1]);
  }
  return FINISHED();
}
