// Mutexes of all kinds in teams: who holds one waits for others of the team meanwhile. Their errors are those of POSIX.
// needs: preload, for nobody is preempted
// env: HEDDLE_OMP_PREEMPT=off
// link: -pthread
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { rounds = 30 };

static pthread_mutex_t made(int type, int robust, int shared, int protocol) {
  pthread_mutexattr_t how;
  pthread_mutex_t mutex;
  pthread_mutexattr_init(&how);
  pthread_mutexattr_settype(&how, type);
  pthread_mutexattr_setrobust(&how, robust);
  pthread_mutexattr_setpshared(&how, shared);
  pthread_mutexattr_setprotocol(&how, protocol);
  CHECK_EQUAL(pthread_mutex_init(&mutex, &how), 0);
  return mutex;
}

static struct timespec in(clockid_t clock, long nanoseconds) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += nanoseconds;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

// All want it; the holder lets others run, who then meet a mutex that is held.
static void excluded(pthread_mutex_t* mutex) {
  int inside = 0, count = 0, size = 1;
#pragma omp parallel
  {
#pragma omp single
    size = omp_get_num_threads();
    for (int i = 0; i < rounds; ++i) {
      if (i % 4 == 0) {
        while (pthread_mutex_trylock(mutex) == EBUSY) {
        }
      } else if (i % 4 == 1) {
        const struct timespec limit = in(CLOCK_REALTIME, 900000000);
        int error;
        while ((error = pthread_mutex_timedlock(mutex, &limit)) == ETIMEDOUT) {
        }
        CHECK_EQUAL(error, 0);
      } else {
        CHECK_EQUAL(pthread_mutex_lock(mutex), 0);
      }
      CHECK_EQUAL(++inside, 1);
      sched_yield();
      if (i % 8 == 0) usleep(20);
      ++count;
      CHECK_EQUAL(--inside, 0);
      CHECK_EQUAL(pthread_mutex_unlock(mutex), 0);
    }
  }
  CHECK_EQUAL(count, rounds * size);
}

static void errors(void) {
  pthread_mutex_t strict = made(PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0), nested = made(PTHREAD_MUTEX_RECURSIVE, 0, 0, 0);
  pthread_mutex_t others[] = {made(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST, 0, 0),
                              made(PTHREAD_MUTEX_ERRORCHECK, 0, 0, PTHREAD_PRIO_INHERIT)};
#pragma omp parallel
  {
#pragma omp critical
    {
      CHECK_EQUAL(pthread_mutex_unlock(&strict), EPERM);
      CHECK_EQUAL(pthread_mutex_lock(&strict), 0);
      CHECK_EQUAL(pthread_mutex_lock(&strict), EDEADLK);
      CHECK_EQUAL(pthread_mutex_trylock(&strict), EBUSY);
      CHECK_EQUAL(pthread_mutex_unlock(&strict), 0);
      for (int i = 0; i < 3; ++i) CHECK_EQUAL(pthread_mutex_lock(&nested), 0);
      sched_yield();
      for (int i = 0; i < 3; ++i) CHECK_EQUAL(pthread_mutex_unlock(&nested), 0);
      CHECK_EQUAL(pthread_mutex_unlock(&nested), EPERM);
      for (int i = 0; i < 2; ++i) {
        CHECK_EQUAL(pthread_mutex_lock(&others[i]), 0);
        CHECK_EQUAL(pthread_mutex_lock(&others[i]), EDEADLK);
        CHECK_EQUAL(pthread_mutex_unlock(&others[i]), 0);
      }
    }
  }
}

static void limits(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
#pragma omp parallel
  if (omp_get_thread_num() != 0) {
    struct timespec limit = in(CLOCK_REALTIME, 2000000), wrong = {0, -1};
    CHECK_EQUAL(pthread_mutex_timedlock(&mutex, &limit), ETIMEDOUT);
    const struct timespec after = in(CLOCK_REALTIME, 0);
    CHECK(after.tv_sec > limit.tv_sec || (after.tv_sec == limit.tv_sec && after.tv_nsec >= limit.tv_nsec));
    limit = in(CLOCK_MONOTONIC, 2000000);
    CHECK_EQUAL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &limit), ETIMEDOUT);
    CHECK_EQUAL(pthread_mutex_timedlock(&mutex, &wrong), EINVAL);
    CHECK_EQUAL(pthread_mutex_clocklock(&mutex, CLOCK_BOOTTIME, &limit), EINVAL);
    CHECK_EQUAL(pthread_mutex_trylock(&mutex), EBUSY);
  }
  pthread_mutex_unlock(&mutex);
  CHECK_EQUAL(pthread_mutex_destroy(&mutex), 0);
}

// A robust mutex whose owner, a pthread, has ended.
static pthread_mutex_t left;
static void* leave(void* unused) {
  pthread_mutex_lock(&left);
  return unused;
}
static void owner_is_dead(void) {
  left = made(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0, 0);
  pthread_t owner;
  pthread_create(&owner, NULL, leave, NULL);
  pthread_join(owner, NULL);
  int dead = 0;
#pragma omp parallel reduction(+ : dead)
  {
    const int error = pthread_mutex_lock(&left);
    if (error == EOWNERDEAD) {
      ++dead;
      CHECK_EQUAL(pthread_mutex_consistent(&left), 0);
    } else {
      CHECK_EQUAL(error, 0);
    }
    sched_yield();
    CHECK_EQUAL(pthread_mutex_unlock(&left), 0);
  }
  CHECK_EQUAL(dead, 1);
}

int main(void) {
  omp_set_dynamic(0);
  const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                       PTHREAD_MUTEX_ADAPTIVE_NP};
  for (int i = 0; i < 4; ++i) {
    pthread_mutex_t plain = made(types[i], 0, 0, 0);
    excluded(&plain);
    CHECK_EQUAL(pthread_mutex_destroy(&plain), 0);
  }
  pthread_mutex_t robust = made(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0, 0);
  excluded(&robust);
  pthread_mutex_t shared = made(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PROCESS_SHARED, 0);
  excluded(&shared);
  errors();
  limits();
  owner_is_dead();
  return FINISHED();
}
