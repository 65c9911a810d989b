// Nestable locks count, and belong to the task that has set them.
#include "check.h"

static omp_nest_lock_t lock;
static long count;

static void recurse(int depth) {
  omp_set_nest_lock(&lock);
  ++count;
  if (depth > 0) recurse(depth - 1);
  omp_unset_nest_lock(&lock);
}

int main(void) {
  omp_set_dynamic(0);
  omp_init_nest_lock(&lock);
  CHECK_EQUAL(omp_test_nest_lock(&lock), 1);
  CHECK_EQUAL(omp_test_nest_lock(&lock), 2);
  omp_set_nest_lock(&lock);
  CHECK_EQUAL(omp_test_nest_lock(&lock), 4);
  for (int i = 0; i < 4; ++i) omp_unset_nest_lock(&lock);
  int refused = 0;
#pragma omp parallel num_threads(4)
  {
    for (int i = 0; i < 50; ++i) recurse(3);
#pragma omp barrier
#pragma omp single
    omp_set_nest_lock(&lock);
    // The implicit task that holds it is one of them; the others must not get it.
    const int got = omp_test_nest_lock(&lock);
    if (got == 0) {
#pragma omp atomic
      ++refused;
    } else {
      CHECK_EQUAL(got, 2);
      omp_unset_nest_lock(&lock);
    }
#pragma omp barrier
    if (got != 0) omp_unset_nest_lock(&lock);
  }
  CHECK_EQUAL(refused, 3);
  CHECK_EQUAL(count, 4 * 50 * 4);
  omp_destroy_nest_lock(&lock);
  return FINISHED();
}
