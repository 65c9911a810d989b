// OMP_SCHEDULE is what schedule(runtime) begins with.
// env: OMP_SCHEDULE=guided,7
#include "check.h"

int main(void) {
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  CHECK_EQUAL(kind & 0x7fffffff, omp_sched_guided);
  CHECK_EQUAL(chunk, 7);
  int sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
  CHECK_EQUAL(sum, 4950);
  return FINISHED();
}
