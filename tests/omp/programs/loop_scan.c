// Inclusive and exclusive scans.
#include "check.h"

int main(void) {
  enum { n = 1000 };
  static int in[n], out[n], before[n];
  for (int i = 0; i < n; ++i) in[i] = i % 13 - 4;
  for (int round = 0; round < 5; ++round) {
    int sum = 3, other = 5;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < n; ++i) {
      sum += in[i];
#pragma omp scan inclusive(sum)
      out[i] = sum;
    }
#pragma omp parallel for reduction(inscan, + : other)
    for (int i = 0; i < n; ++i) {
      before[i] = other;
#pragma omp scan exclusive(other)
      other += in[i];
    }
    int serial = 0;
    for (int i = 0; i < n; ++i) {
      CHECK_EQUAL(before[i], 5 + serial);
      serial += in[i];
      CHECK_EQUAL(out[i], 3 + serial);
    }
    CHECK_EQUAL(sum, 3 + serial);
    CHECK_EQUAL(other, 5 + serial);
  }
  return FINISHED();
}
