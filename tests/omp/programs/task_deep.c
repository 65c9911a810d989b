// A chain of tasks, each the child of the one before, each waiting for its child.
#include "check.h"

static int chain(int depth) {
  int below = 0;
  if (depth > 0) {
#pragma omp task shared(below)
    below = chain(depth - 1);
#pragma omp taskwait
  }
  return below + 1;
}

int main(void) {
  int length = 0;
#pragma omp parallel
#pragma omp single
  length = chain(400);
  CHECK_EQUAL(length, 401);
  return FINISHED();
}
