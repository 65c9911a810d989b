// A barrier of pthreads in teams, also beside each other and together with threads that are no members.
// needs: preload, for nobody is preempted
// env: HEDDLE_OMP_PREEMPT=off OMP_MAX_ACTIVE_LEVELS=2
// link: -pthread
#include <pthread.h>

#include "check.h"

enum { rounds = 20, outer = 2 };

static void meet(pthread_barrier_t* barrier, int size, int* arrived, int* serial) {
  for (int i = 1; i <= rounds; ++i) {
    __atomic_add_fetch(arrived, 1, __ATOMIC_RELAXED);
    const int first = pthread_barrier_wait(barrier);
    CHECK(first == 0 || first == PTHREAD_BARRIER_SERIAL_THREAD);
    if (first != 0) __atomic_add_fetch(serial, 1, __ATOMIC_RELAXED);
    CHECK_EQUAL(__atomic_load_n(arrived, __ATOMIC_RELAXED), i * size);
    pthread_barrier_wait(barrier);
  }
}

struct meeting {
  pthread_barrier_t barrier;
  int size, arrived, serial;
};
static void* from_outside(void* of) {
  struct meeting* m = of;
  meet(&m->barrier, m->size, &m->arrived, &m->serial);
  return NULL;
}

int main(void) {
  omp_set_dynamic(0);
  const int inner = omp_get_max_threads();
#pragma omp parallel num_threads(outer)
  {
    struct meeting m = {.size = inner + 1};
    CHECK_EQUAL(pthread_barrier_init(&m.barrier, NULL, m.size), 0);
    pthread_t other;
    CHECK_EQUAL(pthread_create(&other, NULL, from_outside, &m), 0);
#pragma omp parallel num_threads(inner)
    meet(&m.barrier, m.size, &m.arrived, &m.serial);
    CHECK_EQUAL(pthread_join(other, NULL), 0);
    CHECK_EQUAL(m.serial, rounds);
    CHECK_EQUAL(pthread_barrier_destroy(&m.barrier), 0);
  }
  return FINISHED();
}
