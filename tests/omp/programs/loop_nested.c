// Loops in regions in loops: the inner team's work is its own.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  static int a[12][50];
#pragma omp parallel for num_threads(3) schedule(dynamic)
  for (int i = 0; i < 12; ++i) {
#pragma omp parallel for num_threads(2 + i % 3) schedule(dynamic, 2)
    for (int j = 0; j < 50; ++j) {
#pragma omp atomic
      a[i][j] += i + j;
    }
  }
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 50; ++j) CHECK_EQUAL(a[i][j], i + j);
  return FINISHED();
}
