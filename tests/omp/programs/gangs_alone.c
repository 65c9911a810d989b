// More nested regions at a time than there are workers for, each as large as these, whose threads spin for each other
// and are never preempted: only gangs let them end.
// env: HEDDLE_OMP_TEAMS=gang HEDDLE_OMP_PREEMPT=off HEDDLE_WORKERS=3 OMP_MAX_ACTIVE_LEVELS=2
// hangs: HEDDLE_OMP_TEAMS=stealing
#include "check.h"
#include "meet.h"

enum { outer = 6, inner = 3, rounds = 20 };

int main(void) {
  int members = 0;
#pragma omp parallel num_threads(outer)
  regions_that_meet(rounds, inner, &members);
  CHECK_EQUAL(members, outer * inner * rounds);
  return FINISHED();
}
