// mutexinoutset, one and two of them: in any order, one at a time.
#include "check.h"

int main(void) {
  for (int round = 0; round < 10; ++round) {
    int x = 0, inside = 0, set = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : x) shared(x)
      {
        check_work(2000);
        x = 100;
      }
      for (int i = 0; i < 20; ++i) {
#pragma omp task depend(mutexinoutset : x) shared(x, inside)
        {
          int now;
#pragma omp atomic capture
          now = ++inside;
          CHECK_EQUAL(now, 1);
          CHECK(x >= 100);
          const int before = x;
          check_work(200);
          x = before + 1;
#pragma omp atomic
          --inside;
        }
      }
#pragma omp task depend(in : x) shared(x)
      CHECK_EQUAL(x, 120);
#pragma omp task depend(mutexinoutset : x, set) shared(x, set)
      x = set = 7;
#pragma omp task depend(inout : x, set) shared(x, set)
      CHECK_EQUAL(x + set, 14);
    }
  }
  return FINISHED();
}
