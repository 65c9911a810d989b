// OMP_NESTED=true lets inner regions be active.
// env: OMP_NESTED=true OMP_NUM_THREADS=2 OMP_DYNAMIC=false
#include "check.h"

int main(void) {
  CHECK(omp_get_max_active_levels() > 1);
#pragma omp parallel
#pragma omp parallel
  CHECK_EQUAL(omp_get_num_threads(), 2);
  return FINISHED();
}
