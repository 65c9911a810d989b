// OMP_MAX_ACTIVE_LEVELS.
// env: OMP_MAX_ACTIVE_LEVELS=2 OMP_NUM_THREADS=2 OMP_DYNAMIC=false
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_max_active_levels(), 2);
#pragma omp parallel
#pragma omp parallel
  {
    CHECK_EQUAL(omp_get_num_threads(), 2);
#pragma omp parallel
    CHECK_EQUAL(omp_get_num_threads(), 1);
  }
  return FINISHED();
}
