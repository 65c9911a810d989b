// When a program gives its threads back, the destructors of pthread keys and of thread_local objects have run for them.
// oracle: not libomp: its threads end with the process
// link: -pthread
#include <pthread.h>

#include "check.h"

static pthread_key_t key;
static int destroyed;

static void destroy(void* value) { __atomic_fetch_add((int*)value, 1, __ATOMIC_RELAXED); }

int main(void) {
  omp_set_dynamic(0);
  pthread_key_create(&key, destroy);
#pragma omp parallel num_threads(4)
  pthread_setspecific(key, &destroyed);
  CHECK_EQUAL(destroyed, 0);
  CHECK_EQUAL(omp_pause_resource_all(omp_pause_hard), 0);
  CHECK_EQUAL(__atomic_load_n(&destroyed, __ATOMIC_RELAXED), 3);
  return FINISHED();
}
