// A hundred thousand tasks of one producer, and of all members.
#include "check.h"

int main(void) {
  long done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100000; ++i) {
#pragma omp task shared(done)
    {
#pragma omp atomic
      ++done;
    }
  }
  CHECK_EQUAL(done, 100000);
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 50000; ++i) {
#pragma omp task shared(done)
      {
#pragma omp atomic
        ++done;
      }
    }
  }
  CHECK_EQUAL(done, 150000);
  return FINISHED();
}
