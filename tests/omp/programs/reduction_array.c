// Reductions of arrays, of parts of arrays, and of a length known when it runs.
#include "check.h"

static void run(int n, long* at) {
  int fixed[16] = {0};
#pragma omp parallel for reduction(+ : fixed, at[2 : n])
  for (int i = 0; i < 1000; ++i) {
    fixed[i % 16] += 1;
    at[2 + i % n] += i;
  }
  for (int i = 0; i < 16; ++i) CHECK_EQUAL(fixed[i], i < 8 ? 63 : 62);
  for (int k = 0; k < n; ++k) {
    long expected = 100;
    for (int i = k; i < 1000; i += n) expected += i;
    CHECK_EQUAL(at[2 + k], expected);
  }
  CHECK_EQUAL(at[1], 100);
  CHECK_EQUAL(at[2 + n], 100);
}

int main(void) {
  for (int n = 1; n < 500; n += 83) {
    long* at = malloc((n + 3) * sizeof *at);
    for (int i = 0; i < n + 3; ++i) at[i] = 100;
    run(n, at);
    free(at);
  }
  return FINISHED();
}
