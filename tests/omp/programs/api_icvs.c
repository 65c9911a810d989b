// Control variables are a task's own: what is set in a region, an inner region or a task stays there.
#include "check.h"

int main(void) {
  omp_sched_t kind;
  int chunk = -1;
  omp_get_schedule(&kind, &chunk);
  CHECK_EQUAL(kind, omp_sched_static);
  CHECK_EQUAL(chunk, 0);
  omp_set_dynamic(0);
  omp_set_max_active_levels(3);
  CHECK_EQUAL(omp_get_max_active_levels(), 3);
  omp_set_num_threads(3);
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    CHECK_EQUAL(omp_get_num_threads(), 3);
    CHECK_EQUAL(omp_get_max_threads(), 3);
    omp_set_num_threads(2 + me);
    omp_set_dynamic(0);
#pragma omp barrier
    CHECK_EQUAL(omp_get_max_threads(), 2 + me);
#pragma omp parallel
    {
      CHECK_EQUAL(omp_get_num_threads(), 2 + me);
      CHECK_EQUAL(omp_get_max_threads(), 2 + me);
      omp_set_num_threads(7);
    }
    CHECK_EQUAL(omp_get_max_threads(), 2 + me);
#pragma omp task
    {
      omp_set_num_threads(9);
      CHECK_EQUAL(omp_get_max_threads(), 9);
    }
#pragma omp taskwait
    CHECK_EQUAL(omp_get_max_threads(), 2 + me);
  }
  CHECK_EQUAL(omp_get_max_threads(), 3);
  CHECK_EQUAL(omp_get_dynamic(), 0);
  omp_set_dynamic(1);
  CHECK_EQUAL(omp_get_dynamic(), 1);
#pragma omp parallel
  {
    CHECK_EQUAL(omp_get_dynamic(), 1);
    omp_set_dynamic(0);
    CHECK_EQUAL(omp_get_dynamic(), 0);
  }
  CHECK_EQUAL(omp_get_dynamic(), 1);
  omp_set_dynamic(0);
  omp_set_default_device(5);
  CHECK_EQUAL(omp_get_default_device(), 5);
  omp_set_default_device(0);
  CHECK(omp_get_supported_active_levels() >= 1);
  CHECK(omp_get_thread_limit() >= 1);
  return FINISHED();
}
