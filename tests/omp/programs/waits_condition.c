// Conditions in teams: turns, time limits on either clock, and members and other threads that call each other.
// needs: preload, for nobody is preempted
// env: HEDDLE_OMP_PREEMPT=off
// link: -pthread
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "check.h"

enum { rounds = 20, items = 400 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct timespec in(clockid_t clock, long nanoseconds) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += nanoseconds;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

static void turns(void) {
  int turn = 0, size = 1;
#pragma omp parallel
  {
#pragma omp single
    size = omp_get_num_threads();
    const int me = omp_get_thread_num();
    for (int i = 0; i < rounds; ++i) {
      pthread_mutex_lock(&mutex);
      while (turn != i * size + me) CHECK_EQUAL(pthread_cond_wait(&changed, &mutex), 0);
      ++turn;
      pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&mutex);
    }
  }
  CHECK_EQUAL(turn, rounds * size);
}

static void limits(void) {
  pthread_condattr_t how;
  pthread_cond_t steady;
  pthread_condattr_init(&how);
  pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
  pthread_cond_init(&steady, &how);
#pragma omp parallel
  {
    pthread_mutex_lock(&mutex);
    const struct timespec limit = in(CLOCK_REALTIME, 3000000), late = in(CLOCK_MONOTONIC, 3000000), wrong = {0, -1};
    int error;
    while ((error = pthread_cond_timedwait(&changed, &mutex, &limit)) == 0) {
    }
    CHECK_EQUAL(error, ETIMEDOUT);
    while ((error = pthread_cond_timedwait(&steady, &mutex, &late)) == 0) {
    }
    CHECK_EQUAL(error, ETIMEDOUT);
    while ((error = pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &late)) == 0) {
    }
    CHECK_EQUAL(error, ETIMEDOUT);
    CHECK_EQUAL(pthread_cond_timedwait(&changed, &mutex, &wrong), EINVAL);
    pthread_mutex_unlock(&mutex);
  }
  CHECK_EQUAL(pthread_cond_destroy(&steady), 0);
}

// Longer than a clock that can be set is left alone: the member is there for the signal all the time.
static void long_wait(void) {
  int done = 0, waits = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    struct timespec limit = in(CLOCK_REALTIME, 0);
    limit.tv_sec += 3000;
    pthread_mutex_lock(&mutex);
    waits = 1;
    while (!done) CHECK_EQUAL(pthread_cond_timedwait(&changed, &mutex, &limit), 0);
    pthread_mutex_unlock(&mutex);
  } else {
    for (int began = 0; !began; sched_yield()) {
      pthread_mutex_lock(&mutex);
      began = waits;
      pthread_mutex_unlock(&mutex);
    }
    const struct timespec longer = {1, 100000000};
    CHECK_EQUAL(clock_nanosleep(CLOCK_MONOTONIC, 0, &longer, NULL), 0);
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
  }
  CHECK(done);
}

// A buffer of one place between the members and as many other threads.
static int full, given, taken;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;

static void give(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_mutex_lock(&mutex);
    while (full) pthread_cond_wait(&emptied, &mutex);
    full = 1;
    ++given;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
  }
}
static void take(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_mutex_lock(&mutex);
    while (!full) pthread_cond_wait(&filled, &mutex);
    full = 0;
    ++taken;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&emptied);
  }
}
static void* give_from_outside(void* count) {
  give(*(int*)count);
  return NULL;
}
static void* take_from_outside(void* count) {
  take(*(int*)count);
  return NULL;
}

static void exchange(int members_take) {
  const int size = omp_get_max_threads();
  int each = items / size;
  pthread_t others[64];
  full = given = taken = 0;
  for (int i = 0; i < size; ++i)
    pthread_create(&others[i], NULL, members_take ? give_from_outside : take_from_outside, &each);
#pragma omp parallel num_threads(size)
  {
    if (members_take) take(each);
    else give(each);
  }
  for (int i = 0; i < size; ++i) pthread_join(others[i], NULL);
  CHECK_EQUAL(given, each * size);
  CHECK_EQUAL(taken, each * size);
}

int main(void) {
  omp_set_dynamic(0);
  turns();
  limits();
  long_wait();
  exchange(1);
  exchange(0);
  return FINISHED();
}
