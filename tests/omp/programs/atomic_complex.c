// atomic updates of complex numbers.
// not: gcc-12, which refuses them
// link: -latomic
#include <complex.h>

#include "check.h"

int main(void) {
  double complex z = 0;
  float complex f = 1;
#pragma omp parallel for
  for (int i = 0; i < 30; ++i) {
#pragma omp atomic
    z += 1 + 2 * I;
#pragma omp atomic
    f *= I;
  }
  CHECK(creal(z) == 30 && cimag(z) == 60);
  CHECK(crealf(f) == -1 && cimagf(f) == 0);
  return FINISHED();
}
