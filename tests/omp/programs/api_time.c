// Clocks go forward; there are processors; places are consistent.
#include "check.h"

int main(void) {
  const double tick = omp_get_wtick();
  CHECK(tick > 0 && tick < 1);
  double last = omp_get_wtime();
  for (int i = 0; i < 1000; ++i) {
    const double now = omp_get_wtime();
    CHECK(now >= last);
    last = now;
  }
  CHECK(omp_get_num_procs() >= 1);
  const int places = omp_get_num_places();
  for (int p = 0; p < places; ++p) {
    const int n = omp_get_place_num_procs(p);
    CHECK(n >= 1 && n < 10000);
    int* ids = malloc(n * sizeof *ids);
    for (int i = 0; i < n; ++i) ids[i] = -1;
    omp_get_place_proc_ids(p, ids);
    for (int i = 0; i < n; ++i) CHECK(ids[i] >= 0);
    free(ids);
  }
#pragma omp parallel
  {
    const int n = omp_get_partition_num_places();
    CHECK(n >= 0 && n <= places);
    int* nums = malloc((n + 1) * sizeof *nums);
    omp_get_partition_place_nums(nums);
    for (int i = 0; i < n; ++i) CHECK(nums[i] >= 0 && nums[i] < places);
    free(nums);
  }
  return FINISHED();
}
