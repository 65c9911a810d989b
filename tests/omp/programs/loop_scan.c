// Inclusive and exclusive scans.
#include "check.h"

int main(void) {
  enum { n = 1000 };
  static int in[n], out[n], before[n];
  for (int i = 0; i < n; ++i) in[i] = i % 13 - 4;
  for (int round = 0; round < 5; ++round) {
    int sum = 0, other = 0;  // clang 19 leaves other values out
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
      CHECK_EQUAL(before[i], serial);
      serial += in[i];
      CHECK_EQUAL(out[i], serial);
    }
    CHECK_EQUAL(sum, serial);
    CHECK_EQUAL(other, serial);
  }
  return FINISHED();
}
