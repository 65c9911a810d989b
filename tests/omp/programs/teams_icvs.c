// Functions that set what teams get.
#include "check.h"

int main(void) {
  omp_set_num_teams(2);
  CHECK_EQUAL(omp_get_max_teams(), 2);
  omp_set_teams_thread_limit(3);
  CHECK_EQUAL(omp_get_teams_thread_limit(), 3);
  int count = 0;
#pragma omp teams reduction(+ : count)
  {
    count += 1;
    CHECK(omp_get_num_teams() <= 2);
#pragma omp parallel num_threads(5)
    CHECK(omp_get_num_threads() <= 3);
  }
  CHECK(count >= 1 && count <= 2);
  return FINISHED();
}
