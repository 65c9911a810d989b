// A list of places.
// env: OMP_PLACES={0} OMP_PROC_BIND=true
#include "check.h"

int main(void) {
  CHECK_EQUAL(omp_get_num_places(), 1);
  CHECK_EQUAL(omp_get_place_num_procs(0), 1);
  int id = -1;
  omp_get_place_proc_ids(0, &id);
  CHECK_EQUAL(id, 0);
  return FINISHED();
}
