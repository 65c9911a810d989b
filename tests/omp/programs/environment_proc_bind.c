// OMP_PROC_BIND and OMP_PLACES are seen by the functions.
// env: OMP_PROC_BIND=close OMP_PLACES=cores
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_proc_bind(), omp_proc_bind_close);
  CHECK(omp_get_num_places() >= 1);
#pragma omp parallel num_threads(2)
  {
    const int place = omp_get_place_num();
    CHECK(place >= 0 && place < omp_get_num_places());
  }
  return FINISHED();
}
