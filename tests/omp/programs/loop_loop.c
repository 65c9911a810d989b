// The loop construct, and order(concurrent).
#include "check.h"

int main(void) {
  static int a[500], b[500];
#pragma omp parallel
  {
#pragma omp loop bind(parallel)
    for (int i = 0; i < 500; ++i) a[i] += i;
#pragma omp for order(concurrent)
    for (int i = 0; i < 500; ++i) b[i] += a[i];
  }
#pragma omp parallel loop
  for (int i = 0; i < 500; ++i) b[i] += 1;
  for (int i = 0; i < 500; ++i) CHECK_EQUAL(b[i], i + 1);
  return FINISHED();
}
