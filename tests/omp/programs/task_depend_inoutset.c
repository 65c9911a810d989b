// inoutset: together, after those before, before those after.
// not: gcc-12, which does not know this kind
#include "check.h"

int main(void) {
  for (int round = 0; round < 10; ++round) {
    int set = 0, after = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : set) shared(set)
      {
        check_work(2000);
        set = 1;
      }
      for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inoutset : set) shared(set, after)
        {
          CHECK_EQUAL(set, 1);
          check_work(200);
#pragma omp atomic
          ++after;
        }
      }
#pragma omp task depend(in : set) shared(after)
      CHECK_EQUAL(after, 10);
      for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inoutset : set) shared(set, after)
        {
#pragma omp atomic
          ++after;
        }
      }
#pragma omp task depend(out : set) shared(after)
      CHECK_EQUAL(after, 20);
    }
  }
  return FINISHED();
}
