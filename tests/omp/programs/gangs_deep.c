// Regions in regions in regions, none of whose threads is preempted. Those of the innermost ones spin for each other,
// while those around wait at barriers of OpenMP's.
// env: HEDDLE_OMP_TEAMS=gang HEDDLE_OMP_PREEMPT=off HEDDLE_WORKERS=3 OMP_MAX_ACTIVE_LEVELS=3
// hangs: HEDDLE_OMP_TEAMS=stealing
#include "check.h"
#include "meet.h"

enum { outer = 4, middle = 2, inner = 3, rounds = 5 };

int main(void) {
  int members = 0;
#pragma omp parallel num_threads(outer)
#pragma omp parallel num_threads(middle)
  for (int round = 0; round < rounds; ++round) {
    regions_that_meet(1, inner, &members);
#pragma omp barrier
  }
  CHECK_EQUAL(members, outer * middle * inner * rounds);
  return FINISHED();
}
