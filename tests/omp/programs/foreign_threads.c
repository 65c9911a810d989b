// Threads of the program's own enter regions at the same time, again and again, with tasks and inner regions.
// env: OMP_MAX_ACTIVE_LEVELS=2 OMP_DYNAMIC=false
// link: -pthread
#include <pthread.h>

#include "check.h"

static int own;
#pragma omp threadprivate(own)

static void* run(void* at) {
  const int id = (int)(long)at;
  own = id;
  for (int round = 0; round < 20; ++round) {
    int sum = 0, tasks = 0;
#pragma omp parallel num_threads(2 + id % 2) reduction(+ : sum)
    {
      CHECK_EQUAL(omp_get_level(), 1);
      CHECK_EQUAL(omp_get_num_threads(), 2 + id % 2);
      if (omp_get_thread_num() == 0) CHECK_EQUAL(own, id);
      sum += 1;
#pragma omp single
      for (int i = 0; i < 10; ++i) {
#pragma omp task shared(tasks)
        {
#pragma omp atomic
          ++tasks;
        }
      }
#pragma omp parallel num_threads(2) reduction(+ : sum)
      sum += 10;
    }
    CHECK_EQUAL(sum, (2 + id % 2) * 21);
    CHECK_EQUAL(tasks, 10);
    CHECK_EQUAL(own, id);
  }
  return NULL;
}

int main(void) {
  // The environment's variables hold for every initial thread; what main sets is main's alone.
  pthread_t threads[5];
  for (long i = 0; i < 5; ++i) pthread_create(&threads[i], NULL, run, (void*)i);
  for (int i = 0; i < 5; ++i) pthread_join(threads[i], NULL);
  return FINISHED();
}
