// Teams of a league may run at once: what they reduce is whole, each is what it says it is, and none counts as a level.
// oracle: not libomp: makes no more teams than there are processors
#include "check.h"

static int is_in_level(void) {
  return omp_get_level() != 0 || omp_in_parallel() || omp_get_thread_num() != 0 || omp_get_num_threads() != 1;
}

int main(void) {
  omp_set_dynamic(0);
  for (int round = 0; round < 30; ++round) {
    long sum = 0;
    int teams = 0, wrong = 0;
    const int asked = 1 + round % 7;
#pragma omp teams num_teams(asked) thread_limit(3) reduction(+ : sum, teams, wrong)
    {
      teams += 1;
      wrong += omp_get_num_teams() != asked || omp_get_team_num() < 0 || omp_get_team_num() >= asked;
      wrong += is_in_level();
      const int me = omp_get_team_num();
#pragma omp parallel reduction(+ : sum, wrong) num_threads(4)
      {
        sum += omp_get_thread_num() == 0 ? 100 : 0;
        wrong += omp_get_team_num() != me || omp_get_level() != 1 || omp_get_num_threads() > 3;
        wrong += omp_get_ancestor_thread_num(0) != 0 || omp_get_team_size(0) != 1;
      }
#pragma omp distribute parallel for reduction(+ : sum)
      for (int i = 0; i < 1000; ++i) sum += i;
    }
    CHECK_EQUAL(teams, asked);
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(sum, 499500 + 100 * asked);
  }
  return FINISHED();
}
