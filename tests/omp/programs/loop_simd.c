// for simd, with a safe length, a reduction, and a chunk.
#include "check.h"

int main(void) {
  enum { n = 1003 };
  static float a[n], b[n];
  for (int i = 0; i < n; ++i) a[i] = (float)i;
  double sum = 0;
#pragma omp parallel for simd safelen(8) schedule(simd : dynamic, 8)
  for (int i = 0; i < n; ++i) b[i] = 2 * a[i];
#pragma omp parallel for simd reduction(+ : sum) schedule(simd : static)
  for (int i = 0; i < n; ++i) sum += b[i];
  CHECK_EQUAL(sum, n * (n - 1));
  return FINISHED();
}
