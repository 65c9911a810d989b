// All tasks of a team are done when its barrier ends, and those of nested ones, too.
#include "check.h"

int main(void) {
  for (int round = 0; round < 20; ++round) {
    int done = 0;
#pragma omp parallel
    {
      for (int i = 0; i < 10; ++i) {
#pragma omp task shared(done)
        {
          check_work(500);
#pragma omp task shared(done)
          {
            check_work(500);
#pragma omp atomic
            ++done;
          }
#pragma omp atomic
          ++done;
        }
      }
#pragma omp barrier
      int now;
#pragma omp atomic read
      now = done;
      CHECK_EQUAL(now, 20 * omp_get_num_threads());
#pragma omp barrier
#pragma omp single nowait
      {
#pragma omp task shared(done)
        {
          check_work(2000);
#pragma omp atomic
          done += 1000000;
        }
      }
    }
    CHECK(done >= 1000000);
  }
  return FINISHED();
}
