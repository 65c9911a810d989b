// OMP_DISPLAY_ENV prints the variables between two lines that the standard gives.
// env: OMP_DISPLAY_ENV=true OMP_NUM_THREADS=3
// stderr: OPENMP DISPLAY ENVIRONMENT BEGIN
// stderr: _OPENMP
// stderr: OMP_NUM_THREADS
// stderr: OPENMP DISPLAY ENVIRONMENT END
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_max_threads(), 3);
  return FINISHED();
}
