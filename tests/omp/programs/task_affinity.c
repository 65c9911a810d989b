// affinity clauses of tasks are taken, with an iterator, too.
#include "check.h"

int main(void) {
  static double a[100];
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task affinity(a[i]) shared(done)
    {
#pragma omp atomic
      ++done;
    }
#pragma omp task affinity(iterator(k = 0 : 10) : a[k]) shared(done)
    {
#pragma omp atomic
      ++done;
    }
  }
  CHECK_EQUAL(done, 40);
  return FINISHED();
}
