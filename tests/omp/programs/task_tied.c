// A tied task stays with its thread over every scheduling point: number, threadprivate and thread_local.
#include "check.h"

static int own;
#pragma omp threadprivate(own)
static __thread int local;

int main(void) {
#pragma omp parallel
  {
    own = local = omp_get_thread_num();
#pragma omp barrier
    for (int i = 0; i < 30; ++i) {
#pragma omp task
      {
        const int me = omp_get_thread_num();
        CHECK_EQUAL(own, me);
        for (int k = 0; k < 3; ++k) {
#pragma omp task
          {
            check_work(200);
            CHECK_EQUAL(own, omp_get_thread_num());
          }
        }
#pragma omp taskyield
        CHECK_EQUAL(omp_get_thread_num(), me);
#pragma omp taskwait
        CHECK_EQUAL(omp_get_thread_num(), me);
        CHECK_EQUAL(own, me);
        CHECK_EQUAL(local, me);
      }
    }
  }
  return FINISHED();
}
