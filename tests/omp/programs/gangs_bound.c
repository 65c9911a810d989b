// Nested regions whose threads are bound, and spin for each other: several are bound to one worker.
// env: HEDDLE_OMP_TEAMS=gang OMP_PLACES=threads OMP_PROC_BIND=spread,close OMP_MAX_ACTIVE_LEVELS=2
#include "check.h"
#include "meet.h"

enum { outer = 3, inner = 3, rounds = 2 };

int main(void) {
  int members = 0;
#pragma omp parallel num_threads(outer)
  regions_that_meet(rounds, inner, &members);
  CHECK_EQUAL(members, outer * inner * rounds);
  return FINISHED();
}
