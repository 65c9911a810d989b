// master, masked and masked with a filter.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  int master = -1, masked = -1, filtered = -1, absent = -1;
#pragma omp parallel num_threads(4)
  {
#pragma omp master
    master = omp_get_thread_num();
#pragma omp masked
    masked = omp_get_thread_num();
#pragma omp masked filter(2)
    filtered = omp_get_thread_num();
#pragma omp masked filter(17)
    absent = omp_get_thread_num();
  }
  CHECK_EQUAL(master, 0);
  CHECK_EQUAL(masked, 0);
  CHECK_EQUAL(filtered, 2);
  CHECK_EQUAL(absent, -1);
  int sum = 0;
#pragma omp parallel masked num_threads(3)
  sum += omp_get_num_threads();
  CHECK_EQUAL(sum, 3);
  return FINISHED();
}
