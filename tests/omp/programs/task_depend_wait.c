// taskwait with depend, and undeferred tasks with depend: what they name is done, what they do not name need not be.
#include "check.h"

int main(void) {
  for (int round = 0; round < 20; ++round) {
    int x = 0, y = 0, released = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
#pragma omp task depend(out : x) shared(x)
      {
        check_work(3000);
        x = 1;
      }
#pragma omp task depend(out : y) shared(y)
      {
        check_work(3000);
        y = 1;
      }
#pragma omp taskwait depend(in : x)
      CHECK_EQUAL(x, 1);
#pragma omp task depend(inout : x) shared(x) if (0)
      x = 2;
      CHECK_EQUAL(x, 2);
#pragma omp task depend(in : y) shared(y, released) if (0)
      {
        CHECK_EQUAL(y, 1);
        released = 1;
      }
      CHECK_EQUAL(released, 1);
#pragma omp task depend(out : y) shared(y)
      y = 5;
#pragma omp taskwait depend(in : x, y)
      CHECK_EQUAL(y, 5);
    }
  }
  return FINISHED();
}
