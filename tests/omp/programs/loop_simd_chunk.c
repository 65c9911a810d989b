// for simd with chunks that are no multiples of the width: each iteration once.
// oracle: not libomp: gives iterations of static chunks out more than once
#include "check.h"

int main(void) {
  enum { n = 1003 };
  static int seen[2 * n];
#pragma omp parallel for simd schedule(simd : static, 3)
  for (int i = 0; i < n; ++i) seen[i] += 1;
#pragma omp parallel for simd schedule(simd : static, 7)
  for (int i = 0; i < n; ++i) seen[i] += 1;
#pragma omp parallel for simd schedule(simd : dynamic, 5)
  for (int i = 0; i < n; ++i) seen[i] += 1;
#pragma omp parallel for simd schedule(simd : guided, 3)
  for (int i = 0; i < n; ++i) seen[i] += 1;
  for (int i = 0; i < 2 * n; ++i) CHECK_EQUAL(seen[i], i < n ? 4 : 0);
  return FINISHED();
}
