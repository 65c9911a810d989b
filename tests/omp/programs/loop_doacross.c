// depend(sink) and depend(source): a recurrence in one dimension, a wavefront in two, with steps and downwards.
#include "check.h"

int main(void) {
  enum { n = 60, m = 40 };
  static long a[n], w[n][m], d[n];
  a[0] = 1;
#pragma omp parallel for ordered(1)
  for (int i = 1; i < n; ++i) {
#pragma omp ordered depend(sink : i - 1)
    a[i] = a[i - 1] + i;
#pragma omp ordered depend(source)
  }
  for (int i = 0; i < n; ++i) CHECK_EQUAL(a[i], 1 + i * (i + 1) / 2);

#pragma omp parallel for ordered(1) schedule(dynamic, 3)
  for (long i = n - 1; i >= 0; i -= 2) {
#pragma omp ordered depend(sink : i + 2)
    d[i] = (i + 2 < n ? d[i + 2] : 0) + 1;
#pragma omp ordered depend(source)
  }
  for (int i = n - 1, k = 1; i >= 0; i -= 2, ++k) CHECK_EQUAL(d[i], k);

#pragma omp parallel for ordered(2) schedule(static, 1)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      w[i][j] = i == 0 || j == 0 ? 1 : (w[i - 1][j] + w[i][j - 1]) % 1000003;
#pragma omp ordered depend(source)
    }
  long expected[n][m];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      expected[i][j] = i == 0 || j == 0 ? 1 : (expected[i - 1][j] + expected[i][j - 1]) % 1000003;
      CHECK_EQUAL(w[i][j], expected[i][j]);
    }

  // Two loops of this kind in one region, without a barrier.
  static int x[30], y[30];
#pragma omp parallel
  {
#pragma omp for ordered(1) schedule(dynamic) nowait
    for (int i = 0; i < 30; ++i) {
#pragma omp ordered depend(sink : i - 1)
      x[i] = i == 0 ? 1 : x[i - 1] + 1;
#pragma omp ordered depend(source)
    }
#pragma omp for ordered(1) schedule(static, 2)
    for (int i = 0; i < 30; ++i) {
#pragma omp ordered depend(sink : i - 2)
      y[i] = i < 2 ? 1 : y[i - 2] + 1;
#pragma omp ordered depend(source)
    }
  }
  CHECK_EQUAL(x[29], 30);
  CHECK_EQUAL(y[29], 15);
  return FINISHED();
}
