// if(false) makes a region of one thread, which is still a level.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  for (int parallel = 0; parallel < 2; ++parallel) {
#pragma omp parallel num_threads(4) if (parallel)
    {
      CHECK_EQUAL(omp_get_num_threads(), parallel ? 4 : 1);
      CHECK_EQUAL(omp_get_level(), 1);
      CHECK_EQUAL(omp_get_active_level(), parallel);
      CHECK_EQUAL(omp_in_parallel() != 0, parallel);
#pragma omp parallel num_threads(2) if (0)
      {
        CHECK_EQUAL(omp_get_num_threads(), 1);
        CHECK_EQUAL(omp_get_thread_num(), 0);
        CHECK_EQUAL(omp_get_level(), 2);
        CHECK_EQUAL(omp_get_active_level(), parallel);
      }
#pragma omp barrier
    }
  }
  return FINISHED();
}
