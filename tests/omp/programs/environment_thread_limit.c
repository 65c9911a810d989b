// OMP_THREAD_LIMIT is seen and kept to. omp_get_max_threads returns nthreads-var all the same (OpenMP 5.1, 3.2.3).
// env: OMP_THREAD_LIMIT=3 OMP_NUM_THREADS=8 OMP_DYNAMIC=false
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_thread_limit(), 3);
  CHECK_EQUAL(omp_get_max_threads(), 8);
  int size = 0;
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  CHECK(size >= 1 && size <= 3);
  return FINISHED();
}
