// priority clauses are taken, and one thread alone runs what is more urgent no later than all others have been run.
#include "check.h"

int main(void) {
  CHECK(omp_get_max_task_priority() >= 0);
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 200; ++i) {
#pragma omp task priority(i % 11) shared(done)
    {
#pragma omp atomic
      ++done;
    }
  }
  CHECK_EQUAL(done, 200);
  return FINISHED();
}
