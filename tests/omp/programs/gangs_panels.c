// Tasks with dependences, of which some begin a region whose threads spin for each other, others make tasks and wait
// for them. Tied tasks are run by whoever waits, and nothing is preempted.
// env: HEDDLE_OMP_TEAMS=gang HEDDLE_OMP_PREEMPT=off HEDDLE_WORKERS=2 OMP_MAX_ACTIVE_LEVELS=2
// hangs: HEDDLE_OMP_TEAMS=stealing
#include "check.h"
#include "meet.h"

enum { columns = 12, outer = 5, inner = 2, steps = 30 };

static int values[columns];

static void panel(int k) {
  struct meeting at = {0, 0};
#pragma omp parallel num_threads(inner) shared(at)
  for (int step = 0; step < steps; ++step) {
    meet(&at, inner);
#pragma omp atomic
    ++values[k];
    meet(&at, inner);
  }
}

static void update(int k, int j) {
  for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(k, j)
    {
      check_work(500);
#pragma omp atomic
      values[j] += values[k] > 0;
    }
  }
#pragma omp taskwait
}

int main(void) {
  int independent[columns] = {0};
#pragma omp parallel num_threads(outer)
#pragma omp single
  for (int k = 0; k < columns; ++k) {
#pragma omp task depend(inout : values[k]) firstprivate(k)
    panel(k);
    for (int j = k + 1; j < columns; ++j) {
#pragma omp task depend(in : values[k]) depend(inout : values[j]) firstprivate(k, j)
      update(k, j);
    }
    // a panel that waits for nothing: several at a time
#pragma omp task firstprivate(k) shared(independent)
    {
      struct meeting at = {0, 0};
#pragma omp parallel num_threads(inner) shared(at, independent)
      {
        meet(&at, inner);
#pragma omp atomic
        ++independent[k];
      }
    }
  }
  for (int k = 0; k < columns; ++k) {
    CHECK_EQUAL(values[k], steps * inner + 2 * k);
    CHECK_EQUAL(independent[k], inner);
  }
  return FINISHED();
}
