// teams on the host, distribute, limits and reductions.
#include "check.h"

int main(void) {
  int leagues = 0, size = 0;
#pragma omp teams num_teams(3) thread_limit(2) reduction(+ : leagues)
  {
    CHECK(omp_get_num_teams() >= 1 && omp_get_num_teams() <= 3);
    CHECK(omp_get_team_num() >= 0 && omp_get_team_num() < omp_get_num_teams());
    leagues += 1;
#pragma omp parallel num_threads(4)
    {
      CHECK(omp_get_num_threads() <= 2);
#pragma omp atomic
      size += 1;
    }
  }
  CHECK(leagues >= 1 && leagues <= 3);
  CHECK(size >= leagues && size <= 2 * leagues);
  static int seen[1000];
#pragma omp teams distribute
  for (int i = 0; i < 1000; ++i) seen[i]++;
#pragma omp teams distribute parallel for num_teams(2) dist_schedule(static, 10) schedule(static, 3)
  for (int i = 0; i < 1000; ++i) seen[i]++;
#pragma omp teams distribute parallel for collapse(2)
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 100; ++j) seen[i * 100 + j]++;
#pragma omp teams
#pragma omp distribute parallel for schedule(dynamic)
  for (long i = 999; i >= 0; --i) seen[i]++;
#pragma omp teams distribute simd
  for (int i = 0; i < 1000; ++i) seen[i]++;
#pragma omp teams distribute parallel for simd
  for (int i = 0; i < 1000; ++i) seen[i]++;
#pragma omp teams loop
  for (int i = 0; i < 1000; ++i) seen[i]++;
  for (int i = 0; i < 1000; ++i) CHECK_EQUAL(seen[i], 7);
  long sum = 0;
#pragma omp teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += i;
  CHECK_EQUAL(sum, 499500);
  int last = 0;
#pragma omp teams distribute parallel for lastprivate(last) num_teams(2)
  for (int i = 0; i < 77; ++i) last = i;
  CHECK_EQUAL(last, 76);
  CHECK_EQUAL(omp_get_num_teams(), 1);
  CHECK_EQUAL(omp_get_team_num(), 0);
  return FINISHED();
}
