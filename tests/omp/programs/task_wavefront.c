// A wavefront of 64 x 64 tasks by dependences, its numbers checked.
#include "check.h"

enum { n = 64 };
static unsigned w[n + 1][n + 1];

int main(void) {
  for (int i = 0; i <= n; ++i) w[i][0] = w[0][i] = 1;
#pragma omp parallel
#pragma omp single
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) {
#pragma omp task depend(in : w[i - 1][j], w[i][j - 1]) depend(out : w[i][j]) firstprivate(i, j)
      w[i][j] = w[i - 1][j] + w[i][j - 1];
    }
  static unsigned expected[n + 1][n + 1];
  for (int i = 0; i <= n; ++i) expected[i][0] = expected[0][i] = 1;
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) {
      expected[i][j] = expected[i - 1][j] + expected[i][j - 1];
      CHECK_EQUAL(w[i][j], expected[i][j]);
    }
  return FINISHED();
}
