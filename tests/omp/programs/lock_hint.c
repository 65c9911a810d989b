// Locks with hints, simple and nestable.
// not: gcc-12, whose library does not have the functions
#include "check.h"

int main(void) {
  static const omp_sync_hint_t hints[] = {omp_sync_hint_none, omp_sync_hint_uncontended, omp_sync_hint_contended,
                                          omp_sync_hint_nonspeculative, omp_sync_hint_speculative};
  for (unsigned h = 0; h < sizeof hints / sizeof *hints; ++h) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock_with_hint(&lock, hints[h]);
    omp_init_nest_lock_with_hint(&nest, hints[h]);
    int count = 0, nested = 0;
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 100; ++i) {
      omp_set_lock(&lock);
      ++count;
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nest);
      omp_set_nest_lock(&nest);
      ++nested;
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
    }
    CHECK_EQUAL(count, nested);
    CHECK(count >= 100);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
  }
  return FINISHED();
}
