// Threads that say they are at a place run on its processors, in regions of all sizes and policies and inside others.
// env: OMP_PLACES=threads OMP_PROC_BIND=spread,close OMP_MAX_ACTIVE_LEVELS=2
#define _GNU_SOURCE
#include <sched.h>

#include "check.h"

static int is_where_it_says(void) {
  for (int tries = 0; tries < 2; ++tries) {
    const int place = omp_get_place_num();
    if (place < 0) return 1;
    const int count = omp_get_place_num_procs(place), here = sched_getcpu();
    int ids[4096], found = 0;
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < count; ++i) found |= ids[i] == here;
    if (!found) return 0;
    check_work(20000);
  }
  return 1;
}

int main(void) {
  omp_set_dynamic(0);
  const int places = omp_get_num_places();
  CHECK(places > 0);
  CHECK_EQUAL(omp_get_place_num(), 0);
  for (int round = 0; round < 10; ++round) {
    for (int n = 1; n <= 5; ++n) {
      int members = 0;
#pragma omp parallel num_threads(n) reduction(+ : members)
      {
        members += 1;
        CHECK(is_where_it_says());
        CHECK(omp_get_partition_num_places() >= 1);
        if (n < 4) {
#pragma omp parallel num_threads(2)
          CHECK(is_where_it_says());
        }
      }
      CHECK_EQUAL(members, n);
#pragma omp parallel num_threads(n) proc_bind(close)
      CHECK(is_where_it_says());
#pragma omp parallel num_threads(n) proc_bind(master)
      {
        CHECK(is_where_it_says());
        CHECK(omp_get_place_num() <= 0);
      }
    }
  }
  CHECK(is_where_it_says());
  return FINISHED();
}
