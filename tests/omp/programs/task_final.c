// final makes all descendants final, and undeferred; mergeable ones give the same results.
#include "check.h"

static void walk(int depth, int final_from, int thread) {
  CHECK_EQUAL(omp_in_final() != 0, depth > final_from);
  // The first final task may be deferred; those in it are not.
  if (depth > final_from + 1) CHECK_EQUAL(omp_get_thread_num(), thread);
  if (depth == 6) return;
  for (int i = 0; i < 2; ++i) {
    int done = 0;
    const int here = omp_get_thread_num();
#pragma omp task final(depth >= final_from) shared(done)
    {
      walk(depth + 1, final_from, here);
      done = 1;
    }
    if (depth > final_from) CHECK_EQUAL(done, 1);
#pragma omp taskwait
    CHECK_EQUAL(done, 1);
  }
}

int main(void) {
  CHECK_EQUAL(omp_in_final(), 0);
#pragma omp parallel
#pragma omp single
  walk(0, 3, omp_get_thread_num());
  int x = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task final(1) shared(x)
    {
#pragma omp task mergeable shared(x)
      ++x;
#pragma omp task mergeable if (0) shared(x)
      ++x;
    }
  }
  CHECK_EQUAL(x, 2);
  return FINISHED();
}
