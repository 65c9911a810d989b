// Members that sleep: others run meanwhile, none sleeps too short, and what is wrong is said as POSIX has it.
// needs: preload, for nobody is preempted
// env: HEDDLE_OMP_PREEMPT=off
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { rounds = 10 };
static int turn;

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void sleep_a_little(int how) {
  const double begin = now(CLOCK_MONOTONIC);
  struct timespec t = {0, 300000};
  switch (how % 5) {
    case 0: CHECK_EQUAL(usleep(300), 0); break;
    case 1: CHECK_EQUAL(nanosleep(&t, NULL), 0); break;
    case 2: CHECK_EQUAL(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL), 0); break;
    default: {
      const clockid_t clock = how % 5 == 3 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
      const double end = now(clock) + 300e-6;
      t.tv_sec = (time_t)end;
      t.tv_nsec = (long)((end - t.tv_sec) * 1e9);
      CHECK_EQUAL(clock_nanosleep(clock, TIMER_ABSTIME, &t, NULL), 0);
    }
  }
  CHECK(now(CLOCK_MONOTONIC) - begin >= 298e-6);  // what the program itself has computed with is rounded
}

int main(void) {
  omp_set_dynamic(0);
  int size = 1;
#pragma omp parallel
  {
#pragma omp single
    size = omp_get_num_threads();
    const int me = omp_get_thread_num();
    for (int i = 0; i < rounds; ++i) {
      while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != i * size + me) sleep_a_little(i + me);
      sleep_a_little(i + me);
      __atomic_store_n(&turn, turn + 1, __ATOMIC_RELEASE);
    }
    struct timespec wrong = {0, 1000000000}, before = {-1, 0}, past = {1, 0}, zero = {0, 0};
    errno = 0;
    CHECK_EQUAL(nanosleep(&wrong, NULL), -1);
    CHECK_EQUAL(errno, EINVAL);
    CHECK_EQUAL(nanosleep(&before, NULL), -1);
    CHECK_EQUAL(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL), EINVAL);
    CHECK_EQUAL(clock_nanosleep(1234, 0, &zero, NULL), EINVAL);
    CHECK_EQUAL(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL), 0);
    CHECK_EQUAL(nanosleep(&zero, NULL), 0);
    CHECK_EQUAL(usleep(0), 0);
    CHECK_EQUAL(sleep(0), 0);
    struct timespec busy = {0, 1000};
    if (me == 0) CHECK_EQUAL(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &busy, NULL), EINVAL);
  }
  CHECK_EQUAL(turn, rounds * size);
  return FINISHED();
}
