// Regions that tasks open, and tasks in them.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  int total = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 12; ++i) {
#pragma omp task shared(total)
    {
      const int me = omp_get_thread_num();
      int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
      {
        CHECK_EQUAL(omp_get_level(), 2);
        CHECK_EQUAL(omp_get_ancestor_thread_num(1), me);
        int mine = 0;
#pragma omp task shared(mine)
        mine = 1;
#pragma omp taskwait
        sum += mine;
      }
      CHECK_EQUAL(omp_get_thread_num(), me);
#pragma omp atomic
      total += sum;
    }
  }
  CHECK_EQUAL(total, 36);
  return FINISHED();
}
