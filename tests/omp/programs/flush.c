// A value handed round by flags, flushes and atomics; the waiters yield.
#include <sched.h>

#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  enum { size = 4 };
  int data[size] = {0}, flag[size] = {0};
#pragma omp parallel num_threads(size)
  {
    const int me = omp_get_thread_num();
    if (me == 0) {
      data[0] = 42;
#pragma omp flush
#pragma omp atomic write release
      flag[0] = 1;
    } else {
      int ready = 0;
      while (!ready) {
#pragma omp atomic read acquire
        ready = flag[me - 1];
        if (!ready) sched_yield();
      }
#pragma omp flush
      data[me] = data[me - 1] + 1;
#pragma omp flush
#pragma omp atomic write release
      flag[me] = 1;
    }
  }
  CHECK_EQUAL(data[size - 1], 42 + size - 1);
  return FINISHED();
}
