// Members of nested regions spin for what threads outside of them do: for the other members of the outer region, one of
// which leads no region, and for a pthread with regions of its own.
// env: HEDDLE_OMP_TEAMS=gang HEDDLE_WORKERS=2 OMP_MAX_ACTIVE_LEVELS=2
// link: -pthread
#include <pthread.h>

#include "check.h"

enum { outer = 4, inner = 2 };

static int steps, from_pthread;

static void* other(void* unused) {
  (void)unused;
  for (int i = 0; i < 3; ++i) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp atomic
    ++from_pthread;
  }
  return NULL;
}

int main(void) {
  pthread_t second;
  pthread_create(&second, NULL, other, NULL);
#pragma omp parallel num_threads(outer)
  {
    if (omp_get_thread_num() == outer - 1) {
      check_work(200000);
      __atomic_add_fetch(&steps, 1, __ATOMIC_ACQ_REL);
    } else {
#pragma omp parallel num_threads(inner)
      while (__atomic_load_n(&steps, __ATOMIC_ACQUIRE) == 0 || __atomic_load_n(&from_pthread, __ATOMIC_ACQUIRE) < 12) {
      }
    }
  }
  pthread_join(second, NULL);
  CHECK_EQUAL(steps, 1);
  CHECK_EQUAL(from_pthread, 12);
  return FINISHED();
}
