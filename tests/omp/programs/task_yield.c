// taskyield, by those who make tasks and by the tasks, loses none.
#include "check.h"

int main(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp task shared(done)
    {
#pragma omp taskyield
#pragma omp atomic
      ++done;
    }
#pragma omp taskyield
  }
  CHECK_EQUAL(done, 100);
  return FINISHED();
}
