// schedule(runtime) follows omp_set_schedule, which is a region's own variable.
#include "check.h"

static int owner[1000];

static void run(int n) {
#pragma omp parallel num_threads(4)
  {
#pragma omp for schedule(runtime)
    for (int i = 0; i < n; ++i) owner[i] = omp_get_thread_num();
  }
}

int main(void) {
  omp_set_dynamic(0);
  static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int k = 0; k < 4; ++k) {
    for (int chunk = 0; chunk < 10; chunk += 3) {
      omp_set_schedule(kinds[k], chunk);
      omp_sched_t kind;
      int got;
      omp_get_schedule(&kind, &got);
      CHECK_EQUAL(kind & 0x7fffffff, kinds[k]);
      if (chunk > 0 && kinds[k] != omp_sched_auto) CHECK_EQUAL(got, chunk);
      for (int i = 0; i < 1000; ++i) owner[i] = -1;
      run(1000);
      for (int i = 0; i < 1000; ++i) CHECK(owner[i] >= 0 && owner[i] < 4);
      if (kinds[k] == omp_sched_static && chunk > 0)
        for (int i = 0; i < 1000; ++i) CHECK_EQUAL(owner[i], i / chunk % 4);
      if (kinds[k] == omp_sched_static && chunk == 0)
        for (int i = 0; i < 1000; ++i) CHECK_EQUAL(owner[i], i / 250);
    }
  }
  omp_set_schedule(omp_sched_dynamic, 3);
#pragma omp parallel num_threads(2)
  {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    CHECK_EQUAL(kind & 0x7fffffff, omp_sched_dynamic);
    CHECK_EQUAL(chunk, 3);
    omp_set_schedule(omp_sched_static, 10 + omp_get_thread_num());
#pragma omp barrier
    omp_get_schedule(&kind, &chunk);
    CHECK_EQUAL(chunk, 10 + omp_get_thread_num());
  }
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK_EQUAL(chunk, 3);
  return FINISHED();
}
