// The first number is for outer regions, the second for inner ones, the last for all below.
// env: OMP_NUM_THREADS=3,2 OMP_MAX_ACTIVE_LEVELS=3 OMP_DYNAMIC=false
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_max_threads(), 3);
#pragma omp parallel
  {
    CHECK_EQUAL(omp_get_num_threads(), 3);
    CHECK_EQUAL(omp_get_max_threads(), 2);
#pragma omp parallel
    {
      CHECK_EQUAL(omp_get_num_threads(), 2);
#pragma omp parallel
      CHECK_EQUAL(omp_get_num_threads(), 2);
    }
  }
  return FINISHED();
}
