// main returns while a thread of the program's own is inside a region.
// link: -pthread
#include <pthread.h>
#include <sched.h>

#include "check.h"

static int inside;

static void* run(void* unused) {
#pragma omp parallel num_threads(3)
  {
    __atomic_fetch_add(&inside, 1, __ATOMIC_RELEASE);
    for (;;) check_work(1000);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  while (__atomic_load_n(&inside, __ATOMIC_ACQUIRE) == 0) sched_yield();
  return FINISHED();
}
