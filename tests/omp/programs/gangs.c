// Nested regions with a spinning barrier of the program's own, more of them at a time than the machine holds: with
// threads that are never preempted and scheduled one by one it never ends.
// env: OMP_MAX_ACTIVE_LEVELS=2 OMP_DYNAMIC=false
#include "check.h"

struct team_state {
  int arrived, phase;
};

static void spin_barrier(struct team_state* team, int size) {
  const int now = __atomic_load_n(&team->phase, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&team->arrived, 1, __ATOMIC_ACQ_REL) == size) {
    __atomic_store_n(&team->arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&team->phase, now + 1, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&team->phase, __ATOMIC_ACQUIRE) == now) {
    }
  }
}

int main(void) {
  int members = 0;
#pragma omp parallel num_threads(4)
  {
    for (int round = 0; round < 2; ++round) {
      struct team_state team = {0, 0};
#pragma omp parallel num_threads(3) shared(team)
      {
        spin_barrier(&team, 3);
#pragma omp atomic
        ++members;
        spin_barrier(&team, 3);
      }
    }
  }
  CHECK_EQUAL(members, 24);
  return FINISHED();
}
