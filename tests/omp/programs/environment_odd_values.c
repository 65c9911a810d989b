// Values that nobody can read are left out, and the program runs.
// oracle: not libomp: allocates without end
// env: OMP_NUM_THREADS=many OMP_SCHEDULE=sometimes,x OMP_DYNAMIC=perhaps OMP_STACKSIZE=big
#include "check.h"

int main(void) {
  CHECK(omp_get_max_threads() >= 1);
  int sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
  CHECK_EQUAL(sum, 4950);
  return FINISHED();
}
