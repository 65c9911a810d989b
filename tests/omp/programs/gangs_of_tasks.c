// Tasks that begin nested regions, whose members make tasks. The initial thread comes to lead several regions, one
// inside the other, and waits for members that are in no gang, while the gangs of the outer regions have all workers.
// env: HEDDLE_OMP_TEAMS=gang HEDDLE_WORKERS=2 OMP_MAX_ACTIVE_LEVELS=30
#include "check.h"

enum { depth = 7, seeds = 40 };

static int leaves;

static void divide(int levels, unsigned seed) {
  if (levels == 0) {
#pragma omp atomic
    ++leaves;
    return;
  }
  const unsigned other = seed * 1664525u + 1013904223u;
  if (seed >> 31) {
#pragma omp parallel num_threads(2)
    divide(levels - 1, other + (unsigned)omp_get_thread_num() * 2654435761u);
  } else {
#pragma omp task
    divide(levels - 1, other);
#pragma omp task
    divide(levels - 1, seed * 22695477u + 1u);
#pragma omp taskwait
  }
}

int main(void) {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
#pragma omp parallel num_threads(4)
#pragma omp single
    divide(depth, seed * 7919u);
  }
  CHECK_EQUAL(leaves, seeds << depth);
  return FINISHED();
}
