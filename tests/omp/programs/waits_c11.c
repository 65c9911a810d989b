// The same by the names of C11.
// needs: preload, for nobody is preempted
// env: HEDDLE_OMP_PREEMPT=off
#include <threads.h>
#include <time.h>

#include "check.h"

enum { rounds = 20 };

int main(void) {
  omp_set_dynamic(0);
  mtx_t mutex, timed;
  cnd_t changed;
  int turn = 0, size = 1, inside = 0;
  CHECK_EQUAL(mtx_init(&mutex, mtx_plain), thrd_success);
  CHECK_EQUAL(mtx_init(&timed, mtx_timed | mtx_recursive), thrd_success);
  CHECK_EQUAL(cnd_init(&changed), thrd_success);
#pragma omp parallel
  {
#pragma omp single
    size = omp_get_num_threads();
    const int me = omp_get_thread_num();
    for (int i = 0; i < rounds; ++i) {
      mtx_lock(&mutex);
      while (turn != i * size + me) CHECK_EQUAL(cnd_wait(&changed, &mutex), thrd_success);
      ++turn;
      cnd_broadcast(&changed);
      mtx_unlock(&mutex);
      struct timespec end;
      timespec_get(&end, TIME_UTC);
      end.tv_sec += 20;
      CHECK_EQUAL(mtx_timedlock(&timed, &end), thrd_success);
      CHECK_EQUAL(mtx_trylock(&timed), thrd_success);
      CHECK_EQUAL(++inside, 1);
      thrd_yield();
      struct timespec little = {0, 10000};
      if (i % 4 == 0) CHECK_EQUAL(thrd_sleep(&little, NULL), 0);
      CHECK_EQUAL(--inside, 0);
      mtx_unlock(&timed);
      mtx_unlock(&timed);
    }
    mtx_lock(&mutex);
    struct timespec soon;
    timespec_get(&soon, TIME_UTC);
    int error;
    while ((error = cnd_timedwait(&changed, &mutex, &soon)) == thrd_success) {
    }
    CHECK_EQUAL(error, thrd_timedout);
    mtx_unlock(&mutex);
  }
  CHECK_EQUAL(turn, rounds * size);
  return FINISHED();
}
