// Members that wait for each other by means of pthreads: a barrier, a mutex with a condition, a pipe.
// needs: preload, for the functions of pthreads are replaced in that form only
// link: -pthread
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { size = 5 };
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

int main(void) {
  omp_set_dynamic(0);
  pthread_barrier_init(&barrier, NULL, size);
  int ends[2], sum = 0;
  CHECK_EQUAL(pipe(ends), 0);
#pragma omp parallel num_threads(size)
  {
    const int me = omp_get_thread_num();
    for (int i = 1; i <= 5; ++i) {
#pragma omp atomic
      ++sum;
      pthread_barrier_wait(&barrier);
      int now;
#pragma omp atomic read
      now = sum;
      CHECK_EQUAL(now, i * size);
      pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < 3; ++i) {
      pthread_mutex_lock(&mutex);
      while (turn != i * size + me) pthread_cond_wait(&changed, &mutex);
      ++turn;
      pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&mutex);
    }
    char c = 'x';
    if (me == size - 1) {
      for (int i = 0; i < size - 1; ++i) CHECK_EQUAL(write(ends[1], &c, 1), 1);
    } else {
      CHECK_EQUAL(read(ends[0], &c, 1), 1);
    }
  }
  CHECK_EQUAL(turn, 3 * size);
  pthread_barrier_destroy(&barrier);
  return FINISHED();
}
