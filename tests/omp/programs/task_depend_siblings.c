// Dependences bind tasks of one parent only, and hold with several producers at once.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  int total = 0;
#pragma omp parallel num_threads(4) reduction(+ : total)
  {
    int mine = 0;
    for (int i = 0; i < 100; ++i) {
#pragma omp task depend(inout : mine) firstprivate(i) shared(mine)
      {
        CHECK_EQUAL(mine, i);
        int inner = 0;
        for (int k = 0; k < 5; ++k) {
#pragma omp task depend(inout : inner) firstprivate(k) shared(inner)
          {
            CHECK_EQUAL(inner, k);
            ++inner;
          }
        }
#pragma omp taskwait
        CHECK_EQUAL(inner, 5);
        mine = i + 1;
      }
    }
#pragma omp taskwait
    total += mine;
  }
  CHECK_EQUAL(total, 400);
  return FINISHED();
}
