// detach with if(0) and depend: siblings that depend on such a task wait for its event, not for its body alone; the
// task itself waits for its predecessors, and its exclusion lasts until the event. oracle: not libgomp: its maker waits
// for the event oracle: not libomp: its siblings wait for the body alone
#include "check.h"

static int fulfilled, early, in_exclusion;

static void settle(omp_event_handle_t event) {
  check_work(200);
  __atomic_store_n(&fulfilled, 1, __ATOMIC_RELEASE);
  omp_fulfill_event(event);
}

static void look(void) {
  if (!__atomic_load_n(&fulfilled, __ATOMIC_ACQUIRE)) __atomic_add_fetch(&early, 1, __ATOMIC_RELAXED);
}

static void successors_wait(void) {
  int x = 0, y = 0;
  omp_event_handle_t event;
  fulfilled = 0;
#pragma omp task shared(x) depend(out : x)
  {
    check_work(100);
    x = 1;
  }
#pragma omp task detach(event) if (0) depend(inout : x) shared(x, y)
  y = x;
  CHECK_EQUAL(y, 1);  // its predecessor came first, and its maker goes on when its body is over
#pragma omp task depend(in : x)
  look();
#pragma omp task depend(in : x)
  look();
  check_work(500);
  settle(event);
#pragma omp taskwait
}

static void exclusion_lasts(void) {
  int x = 0;
  omp_event_handle_t event;
  in_exclusion = 0;
  for (int i = 0; i < 4; ++i) {
#pragma omp task depend(mutexinoutset : x)
    {
      if (__atomic_add_fetch(&in_exclusion, 1, __ATOMIC_RELAXED) != 1) __atomic_add_fetch(&early, 1, __ATOMIC_RELAXED);
      check_work(50);
      __atomic_sub_fetch(&in_exclusion, 1, __ATOMIC_RELAXED);
    }
  }
#pragma omp task detach(event) if (0) depend(mutexinoutset : x)
  if (__atomic_add_fetch(&in_exclusion, 1, __ATOMIC_RELAXED) != 1) __atomic_add_fetch(&early, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 4; ++i) {
#pragma omp task depend(mutexinoutset : x)
    if (__atomic_load_n(&in_exclusion, __ATOMIC_RELAXED) != 0) __atomic_add_fetch(&early, 1, __ATOMIC_RELAXED);
  }
  check_work(500);
  __atomic_sub_fetch(&in_exclusion, 1, __ATOMIC_RELAXED);
  omp_fulfill_event(event);
#pragma omp taskwait
}

// The event is fulfilled inside of the body.
static void fulfilled_early(void) {
  int x = 0;
  fulfilled = 0;
  omp_event_handle_t event;
#pragma omp task detach(event) if (0) depend(out : x)
  settle(event);
#pragma omp task depend(in : x)
  look();
#pragma omp taskwait
}

static void all(void) {
  successors_wait();
  exclusion_lasts();
  fulfilled_early();
}

int main(void) {
  for (int round = 0; round < 50; ++round) {
    all();
#pragma omp parallel
#pragma omp single
    all();
#pragma omp parallel num_threads(1 + round % 3)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task
      all();
    }
  }
  CHECK_EQUAL(early, 0);
  return FINISHED();
}
