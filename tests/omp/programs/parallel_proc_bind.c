// proc_bind clauses are taken, and a region's members see no more than the standard lets them.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  int members = 0;
#pragma omp parallel num_threads(4) proc_bind(close) reduction(+ : members)
  members += 1;
#pragma omp parallel num_threads(4) proc_bind(spread) reduction(+ : members)
  members += 1;
#pragma omp parallel num_threads(4) proc_bind(master) reduction(+ : members)
  members += 1;
  CHECK_EQUAL(members, 12);
  const int bind = (int)omp_get_proc_bind();
  CHECK(bind >= 0 && bind <= 4);
  const int places = omp_get_num_places();
  CHECK(places >= 0);
#pragma omp parallel num_threads(3)
  {
    const int place = omp_get_place_num();
    CHECK(place >= -1 && place < (places > 0 ? places : 1));
  }
  return FINISHED();
}
