// single: one member, the others wait; nowait; copyprivate.
#include "check.h"

int main(void) {
  int count = 0, loose = 0;
#pragma omp parallel
  {
    for (int i = 1; i <= 50; ++i) {
#pragma omp single
      count = i;
      CHECK_EQUAL(count, i);
#pragma omp barrier
#pragma omp single nowait
      {
#pragma omp atomic
        ++loose;
      }
    }
    for (int i = 0; i < 30; ++i) {
      int value = -1;
      double pair[2] = {0, 0};
#pragma omp single copyprivate(value, pair)
      {
        value = i * 3;
        pair[1] = i;
      }
      CHECK_EQUAL(value, i * 3);
      CHECK_EQUAL(pair[1], i);
    }
  }
  CHECK_EQUAL(loose, 50);
  return FINISHED();
}
