// A lock that eight threads want, whose holder meets a task scheduling point and a yield meanwhile.
#include <sched.h>

#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  omp_lock_t lock;
  omp_init_lock(&lock);
  long count = 0;
#pragma omp parallel num_threads(8)
  {
    for (int i = 0; i < 50; ++i) {
      omp_set_lock(&lock);
      const long before = count;
      sched_yield();
      check_work(100);
      count = before + 1;
      omp_unset_lock(&lock);
    }
  }
  CHECK_EQUAL(count, 400);
  omp_destroy_lock(&lock);
  return FINISHED();
}
