// errno is a thread's own, and stays so over barriers, critical sections and tasks.
#include <errno.h>

#include "check.h"

int main(void) {
  omp_set_dynamic(0);
#pragma omp parallel num_threads(6)
  {
    for (int round = 0; round < 50; ++round) {
      errno = 1000 * (omp_get_thread_num() + 1) + round;
#pragma omp barrier
      CHECK_EQUAL(errno, 1000 * (omp_get_thread_num() + 1) + round);
#pragma omp critical
      CHECK_EQUAL(errno, 1000 * (omp_get_thread_num() + 1) + round);
    }
  }
  return FINISHED();
}
