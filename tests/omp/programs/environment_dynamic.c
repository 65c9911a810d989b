// OMP_DYNAMIC is the first value of its variable.
// env: OMP_DYNAMIC=true
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_dynamic() != 0, 1);
  int size = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  size = omp_get_num_threads();
  CHECK(size >= 1 && size <= 4);
  return FINISHED();
}
