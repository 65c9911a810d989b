// Tasks that open regions with a spinning barrier, as the factorisation of a panel does, beside tasks that compute.
// env: OMP_MAX_ACTIVE_LEVELS=2 OMP_DYNAMIC=false
#include "check.h"

static void panel(int size, int* result) {
  int arrived = 0;
#pragma omp parallel num_threads(size) shared(arrived)
  {
    for (int step = 1; step <= 3; ++step) {
      __atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
      while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < step * size) {
      }
    }
  }
  *result = arrived;
}

int main(void) {
  int results[8] = {0}, other = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 8; ++i) {
#pragma omp task firstprivate(i) shared(results)
    panel(2 + i % 2, &results[i]);
#pragma omp task shared(other)
    {
      check_work(2000);
#pragma omp atomic
      ++other;
    }
  }
  for (int i = 0; i < 8; ++i) CHECK_EQUAL(results[i], 3 * (2 + i % 2));
  CHECK_EQUAL(other, 8);
  return FINISHED();
}
