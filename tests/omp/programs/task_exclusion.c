// A tied task that waits is not interrupted by a task that is not its descendant: a lock held over a taskwait is safe.
#include "check.h"

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  int inside = 0, count = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 60; ++i) {
#pragma omp task shared(inside, count)
    {
      omp_set_lock(&lock);
      CHECK_EQUAL(inside++, 0);
      int done = 0;
#pragma omp task shared(done)
      {
        check_work(300);
        done = 1;
      }
#pragma omp taskwait
      CHECK_EQUAL(done, 1);
      ++count;
      CHECK_EQUAL(--inside, 0);
      omp_unset_lock(&lock);
    }
  }
  CHECK_EQUAL(count, 60);
  omp_destroy_lock(&lock);
  return FINISHED();
}
