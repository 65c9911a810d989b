// taskgroup waits for all descendants, taskwait for children only; groups in groups.
#include "check.h"

static void descend(int depth, int* count) {
#pragma omp atomic
  ++*count;
  if (depth == 0) return;
  for (int i = 0; i < 2; ++i) {
#pragma omp task
    descend(depth - 1, count);
  }
}

int main(void) {
  for (int round = 0; round < 10; ++round) {
#pragma omp parallel
#pragma omp single
    {
      int count = 0, outer = 0;
#pragma omp taskgroup
      {
#pragma omp task shared(count)
        descend(6, &count);
      }
      CHECK_EQUAL(count, 127);
#pragma omp taskgroup
      {
#pragma omp task shared(outer)
        {
          int inner = 0;
#pragma omp taskgroup
          descend(4, &inner);
          CHECK_EQUAL(inner, 31);
#pragma omp task shared(outer)
          {
            check_work(1000);
#pragma omp atomic
            outer += 1;
          }
        }
#pragma omp task shared(outer)
        {
#pragma omp atomic
          outer += 10;
        }
      }
      CHECK_EQUAL(outer, 11);
      int child = 0;
#pragma omp task shared(child)
      {
        check_work(1000);
        child = 1;
      }
#pragma omp taskwait
      CHECK_EQUAL(child, 1);
    }
  }
  return FINISHED();
}
