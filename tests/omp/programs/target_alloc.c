// Memory of the initial device.
// not: clang, which has these functions in a library for devices
#include "check.h"

int main(void) {
  const int host = omp_get_initial_device();
  int* p = omp_target_alloc(40, host);
  int* q = omp_target_alloc(40, host);
  CHECK(p != NULL && q != NULL);
  for (int i = 0; i < 10; ++i) p[i] = i;
  CHECK_EQUAL(omp_target_memcpy(q, p, 40, 0, 0, host, host), 0);
  for (int i = 0; i < 10; ++i) CHECK_EQUAL(q[i], i);
  CHECK(omp_target_is_present(p, host));
  omp_target_free(p, host);
  omp_target_free(q, host);
  return FINISHED();
}
