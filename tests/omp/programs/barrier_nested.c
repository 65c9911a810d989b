// Barriers of inner teams and of the outer one, in turn, with more members than processors.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  int outer = 0, inner[4] = {0};
#pragma omp parallel num_threads(4)
  {
    const int me = omp_get_thread_num();
    for (int i = 1; i <= 10; ++i) {
#pragma omp parallel num_threads(2 + me)
      {
        for (int k = 0; k < 3; ++k) {
#pragma omp atomic
          ++inner[me];
#pragma omp barrier
          int now;
#pragma omp atomic read
          now = inner[me];
          CHECK_EQUAL(now, (3 * (i - 1) + k + 1) * (2 + me));
#pragma omp barrier
        }
      }
#pragma omp atomic
      ++outer;
#pragma omp barrier
      int now;
#pragma omp atomic read
      now = outer;
      CHECK_EQUAL(now, 4 * i);
#pragma omp barrier
    }
  }
  return FINISHED();
}
