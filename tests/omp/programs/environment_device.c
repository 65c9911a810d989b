// OMP_DEFAULT_DEVICE.
// env: OMP_DEFAULT_DEVICE=2
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_default_device(), 2);
  return FINISHED();
}
