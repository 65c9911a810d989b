// omp_display_env prints what OMP_DISPLAY_ENV would.
// stderr: OPENMP DISPLAY ENVIRONMENT BEGIN
// stderr: OMP_DYNAMIC
// stderr: OPENMP DISPLAY ENVIRONMENT END
#include "check.h"

int main(void) {
  omp_display_env(1);
  return FINISHED();
}
