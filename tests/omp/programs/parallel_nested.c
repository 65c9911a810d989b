// Three levels of regions: numbers of ancestors, sizes of their teams, and the limit of active levels.
#include "check.h"

static void inner(int first, int second) {
#pragma omp parallel num_threads(2)
  {
    CHECK_EQUAL(omp_get_level(), 3);
    CHECK_EQUAL(omp_get_num_threads(), 2);
    CHECK_EQUAL(omp_get_ancestor_thread_num(0), 0);
    CHECK_EQUAL(omp_get_ancestor_thread_num(1), first);
    CHECK_EQUAL(omp_get_ancestor_thread_num(2), second);
    CHECK_EQUAL(omp_get_ancestor_thread_num(3), omp_get_thread_num());
    CHECK_EQUAL(omp_get_ancestor_thread_num(4), -1);
    CHECK_EQUAL(omp_get_ancestor_thread_num(-1), -1);
    CHECK_EQUAL(omp_get_team_size(0), 1);
    CHECK_EQUAL(omp_get_team_size(1), 3);
    CHECK_EQUAL(omp_get_team_size(2), 2);
    CHECK_EQUAL(omp_get_team_size(3), 2);
    CHECK_EQUAL(omp_get_team_size(4), -1);
#pragma omp barrier
  }
}

int main(void) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(3);
  for (int round = 0; round < 10; ++round) {
    int leaves = 0;
#pragma omp parallel num_threads(3)
    {
      const int first = omp_get_thread_num();
#pragma omp parallel num_threads(2)
      {
        inner(first, omp_get_thread_num());
#pragma omp atomic
        ++leaves;
      }
      CHECK_EQUAL(omp_get_thread_num(), first);
      CHECK_EQUAL(omp_get_num_threads(), 3);
      CHECK_EQUAL(omp_get_level(), 1);
    }
    CHECK_EQUAL(leaves, 6);
  }
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(2)
    {
      CHECK_EQUAL(omp_get_num_threads(), 1);
      CHECK_EQUAL(omp_get_level(), 2);
      CHECK_EQUAL(omp_get_active_level(), 1);
    }
  }
  return FINISHED();
}
