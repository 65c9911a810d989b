// Many short regions, one after another, of two sizes in turn.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  long sum = 0;
  for (int i = 0; i < 2000; ++i) {
#pragma omp parallel num_threads(2 + i % 3)
    {
#pragma omp atomic
      sum += 1;
    }
  }
  long expected = 0;
  for (int i = 0; i < 2000; ++i) expected += 2 + i % 3;
  CHECK_EQUAL(sum, expected);
  return FINISHED();
}
