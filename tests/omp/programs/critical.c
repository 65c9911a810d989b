// Unnamed, named and hinted critical regions exclude; different names do not; also in nested teams.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  long unnamed = 0, named = 0, hinted = 0, both = 0, inside = 0;
#pragma omp parallel num_threads(4)
  {
    for (int i = 0; i < 300; ++i) {
#pragma omp critical
      {
        CHECK_EQUAL(inside++, 0);
        unnamed++;
        --inside;
      }
#pragma omp critical(first)
      named++;
#pragma omp critical(second) hint(omp_sync_hint_contended)
      hinted++;
#pragma omp critical(first)
      {
#pragma omp critical(second) hint(omp_sync_hint_contended)
        both++;
      }
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp critical(first)
      named++;
    }
  }
  CHECK_EQUAL(unnamed, 1200);
  CHECK_EQUAL(named, 1208);
  CHECK_EQUAL(hinted, 1200);
  CHECK_EQUAL(both, 1200);
  return FINISHED();
}
