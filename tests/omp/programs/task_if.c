// if(0): the task is done when the statement is, by the thread that has met it, with a parent of its own.
#include "check.h"

int main(void) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < 50; ++i) {
      int done = 0;
#pragma omp task if (0) shared(done)
      {
        CHECK_EQUAL(omp_get_thread_num(), me);
#pragma omp task shared(done)
        {
          check_work(100);
          done += 1;
        }
#pragma omp taskwait
        done += 10;
      }
      CHECK_EQUAL(done, 11);
    }
  }
  return FINISHED();
}
