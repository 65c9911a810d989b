// Work-sharing and synchronisation outside of any region, by the initial thread alone.
#include "check.h"

static int loop(int n) {
  int sum = 0;
#pragma omp for schedule(dynamic, 2)
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    sum += i;
  }
  return sum;
}

int main(void) {
  CHECK_EQUAL(loop(100), 4950);
  int count = 0;
#pragma omp single
  ++count;
#pragma omp master
  ++count;
#pragma omp critical
  ++count;
#pragma omp barrier
#pragma omp sections
  {
#pragma omp section
    ++count;
#pragma omp section
    ++count;
  }
#pragma omp for ordered
  for (int i = 0; i < 3; ++i) {
#pragma omp ordered
    ++count;
  }
#pragma omp task shared(count)
  ++count;
#pragma omp taskwait
#pragma omp taskgroup
  {
#pragma omp task shared(count)
    ++count;
  }
#pragma omp flush
  CHECK_EQUAL(count, 10);
  // In a region each member would meet a construct of its own.
#pragma omp parallel num_threads(3)
  {
    int mine = 0;
#pragma omp parallel for num_threads(1) reduction(+ : mine)
    for (int i = 0; i < 10; ++i) mine += i;
    CHECK_EQUAL(mine, 45);
  }
  return FINISHED();
}
