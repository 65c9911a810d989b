// Destructors of pthread keys, and values of keys that are a thread's own over regions.
// link: -pthread
#include <pthread.h>

#include "check.h"

static pthread_key_t key;
static int destroyed;

static void destroy(void* value) {
  __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
  free(value);
}

// The initial thread of a contention group that ends: its own value is destroyed with it.
static void* run(void* unused) {
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(4)
    {
      int* value = pthread_getspecific(key);
      CHECK_EQUAL(value != NULL, round != 0);
      if (value == NULL) {
        value = malloc(sizeof *value);
        *value = omp_get_thread_num();
        pthread_setspecific(key, value);
      }
#pragma omp barrier
      CHECK_EQUAL(*value, omp_get_thread_num());
      CHECK(pthread_getspecific(key) == value);
    }
  }
  return unused;
}

int main(void) {
  pthread_key_create(&key, destroy);
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  // Of the members 1 to 3 it is not said when they end.
  const int now = __atomic_load_n(&destroyed, __ATOMIC_RELAXED);
  CHECK(now >= 1 && now <= 4);
  return FINISHED();
}
