// Nested regions together keep to OMP_THREAD_LIMIT: a region gets what the regions around it have left.
// env: OMP_THREAD_LIMIT=6 OMP_DYNAMIC=false OMP_MAX_ACTIVE_LEVELS=5
#include "check.h"

int main(void) {
  for (int round = 0; round < 20; ++round) {
    int busy = 0, most = 0, smallest = 6;
#pragma omp parallel num_threads(5)
    {
#pragma omp parallel num_threads(5)
      {
#pragma omp parallel num_threads(2)
        {
          int now;
#pragma omp atomic capture
          now = ++busy;
#pragma omp critical
          {
            if (now > most) most = now;
            if (omp_get_num_threads() < smallest) smallest = omp_get_num_threads();
          }
          check_work(20000);
#pragma omp atomic
          --busy;
        }
      }
    }
    CHECK(most >= 1 && most <= 6);
    CHECK_EQUAL(smallest, 1);
    // What the nested regions took is given back.
    int size = 0;
#pragma omp parallel num_threads(8)
#pragma omp single
    size = omp_get_num_threads();
    CHECK_EQUAL(size, 6);
  }
  return FINISHED();
}
