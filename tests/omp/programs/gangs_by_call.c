// Regions inside regions are gangs because the program has asked for it by a call: as in gangs_alone, only gangs let
// them end. After the call that takes it back they get workers one by one, and wait by OpenMP's barriers alone.
// env: HEDDLE_OMP_TEAMS=stealing HEDDLE_OMP_PREEMPT=off HEDDLE_WORKERS=3 OMP_MAX_ACTIVE_LEVELS=2
// hangs: WITHOUT_THE_CALL=1
#include <stdlib.h>

#include "check.h"
#include "meet.h"

enum { outer = 6, inner = 3, rounds = 20 };

// Other runtimes have no gangs, and need none: each of their threads is the kernel's.
extern void ompx_set_gang_sched(void) __attribute__((weak));
extern void ompx_reset_gang_sched(void) __attribute__((weak));

int main(void) {
  int members = 0, later = 0;
  if (ompx_set_gang_sched != NULL && getenv("WITHOUT_THE_CALL") == NULL) ompx_set_gang_sched();
#pragma omp parallel num_threads(outer)
  regions_that_meet(rounds, inner, &members);
  CHECK_EQUAL(members, outer * inner * rounds);

  if (ompx_reset_gang_sched != NULL) ompx_reset_gang_sched();
#pragma omp parallel num_threads(outer)
#pragma omp parallel num_threads(inner)
  {
#pragma omp atomic
    ++later;
#pragma omp barrier
    CHECK_EQUAL(later >= inner, 1);
  }
  CHECK_EQUAL(later, outer * inner);
  return FINISHED();
}
