// OMP_NUM_TEAMS and OMP_TEAMS_THREAD_LIMIT.
// env: OMP_NUM_TEAMS=2 OMP_TEAMS_THREAD_LIMIT=3
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_max_teams(), 2);
  CHECK_EQUAL(omp_get_teams_thread_limit(), 3);
  return FINISHED();
}
