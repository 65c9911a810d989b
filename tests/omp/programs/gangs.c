// Nested regions with a spinning barrier of the program's own, more of them at a time than the machine holds: with
// threads that are never preempted and scheduled one by one it never ends.
// env: OMP_MAX_ACTIVE_LEVELS=2 OMP_DYNAMIC=false
#include "check.h"
#include "meet.h"

int main(void) {
  int members = 0;
#pragma omp parallel num_threads(4)
  regions_that_meet(2, 3, &members);
  CHECK_EQUAL(members, 24);
  return FINISHED();
}
