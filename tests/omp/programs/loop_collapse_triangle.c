// collapse of loops whose inner bounds depend on the outer variable.
#include "check.h"

int main(void) {
  enum { n = 23 };
  static int seen[n][n];
  for (int round = 0; round < 3; ++round) {
    memset(seen, 0, sizeof seen);
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; ++i)
      for (int j = i; j < n; ++j) seen[i][j]++;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) CHECK_EQUAL(seen[i][j], j >= i);
  }
  return FINISHED();
}
