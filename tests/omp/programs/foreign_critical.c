// Critical regions and locks between members of a team and threads that have never been in a region.
// link: -pthread
#include <pthread.h>

#include "check.h"

static long count;
static omp_lock_t lock;
static long locked;

static void* run(void* unused) {
  for (int i = 0; i < 500; ++i) {
#pragma omp critical(shared_name)
    ++count;
    omp_set_lock(&lock);
    ++locked;
    omp_unset_lock(&lock);
  }
  return unused;
}

int main(void) {
  omp_init_lock(&lock);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, run, NULL);
#pragma omp parallel num_threads(3)
  for (int i = 0; i < 500; ++i) {
#pragma omp critical(shared_name)
    ++count;
    omp_set_lock(&lock);
    ++locked;
    omp_unset_lock(&lock);
  }
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  CHECK_EQUAL(count, 3000);
  CHECK_EQUAL(locked, 3000);
  omp_destroy_lock(&lock);
  return FINISHED();
}
