// Members that wait by looking and calling sched_yield or thrd_yield, for others that have no worker.
// needs: preload, for nobody is preempted
// env: HEDDLE_OMP_PREEMPT=off
#include <sched.h>
#include <threads.h>

#include "check.h"

enum { rounds = 50 };
static int turn;

int main(void) {
  omp_set_dynamic(0);
  int size = 1;
#pragma omp parallel
  {
#pragma omp single
    size = omp_get_num_threads();
    const int me = omp_get_thread_num();
    for (int i = 0; i < rounds; ++i) {
      while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != i * size + me) {
        if (i % 2) thrd_yield();
        else CHECK_EQUAL(sched_yield(), 0);
      }
      __atomic_store_n(&turn, turn + 1, __ATOMIC_RELEASE);
    }
  }
  CHECK_EQUAL(turn, rounds * size);
  return FINISHED();
}
