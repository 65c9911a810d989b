// A critical region with a taskwait inside it, in tasks.
#include "check.h"

int main(void) {
  int inside = 0, count = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 40; ++i) {
#pragma omp task shared(inside, count)
    {
#pragma omp critical
      {
        CHECK_EQUAL(inside++, 0);
#pragma omp task
        check_work(300);
#pragma omp taskwait
        ++count;
        CHECK_EQUAL(--inside, 0);
      }
    }
  }
  CHECK_EQUAL(count, 40);
  return FINISHED();
}
