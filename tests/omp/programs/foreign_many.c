// Two hundred threads, one after another and eight at a time, each with a region, all of which end.
// link: -pthread
#include <pthread.h>

#include "check.h"

static void* run(void* sum) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    ++*(int*)sum;
  }
  return NULL;
}

int main(void) {
  int sum = 0;
  for (int round = 0; round < 25; ++round) {
    pthread_t threads[8];
    for (int i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, run, &sum);
    for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  }
  CHECK_EQUAL(sum, 400);
  return FINISHED();
}
