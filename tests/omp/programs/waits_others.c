// Semaphores, locks of readers and writers, spin locks and ends of pthreads, waited for by members.
// needs: preload, for nobody is preempted
// env: HEDDLE_OMP_PREEMPT=off
// link: -pthread
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include "check.h"

enum { rounds = 10 };
static sem_t next[64];

static void* end_later(void* of) {
  sem_wait(of);
  return of;
}

int main(void) {
  omp_set_dynamic(0);
  const int size = omp_get_max_threads();
  for (int i = 0; i < size; ++i) sem_init(&next[i], 0, i == 0);
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_spinlock_t spin;
  pthread_spin_init(&spin, 0);
  int written = 0, spun = 0, steps = 0;
#pragma omp parallel num_threads(size)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < rounds; ++i) {
      CHECK_EQUAL(sem_wait(&next[me]), 0);
      CHECK_EQUAL(steps++, i * size + me);
      CHECK_EQUAL(sem_post(&next[(me + 1) % size]), 0);

      CHECK_EQUAL(pthread_rwlock_wrlock(&lock), 0);
      CHECK_EQUAL(pthread_rwlock_wrlock(&lock), EDEADLK);
      const int before = written;
      sched_yield();
      written = before + 1;
      CHECK_EQUAL(pthread_rwlock_unlock(&lock), 0);
      CHECK_EQUAL(pthread_rwlock_rdlock(&lock), 0);
      CHECK(written > before);
      CHECK_EQUAL(pthread_rwlock_unlock(&lock), 0);

      const struct timespec late = {0x7fffffff, 0};
      CHECK_EQUAL(pthread_rwlock_timedwrlock(&lock, &late), 0);
      sched_yield();
      CHECK_EQUAL(pthread_rwlock_unlock(&lock), 0);
      CHECK_EQUAL(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &late), 0);
      CHECK_EQUAL(pthread_rwlock_unlock(&lock), 0);

      CHECK_EQUAL(pthread_spin_lock(&spin), 0);
      const int had = spun;
      sched_yield();
      spun = had + 1;
      CHECK_EQUAL(pthread_spin_unlock(&spin), 0);
    }
    sem_t end;
    sem_init(&end, 0, 0);
    const struct timespec past = {1, 0};
    errno = 0;
    CHECK_EQUAL(sem_timedwait(&end, &past), -1);
    CHECK_EQUAL(errno, ETIMEDOUT);
    pthread_t thread;
    void* value = NULL;
    CHECK_EQUAL(pthread_create(&thread, NULL, end_later, &end), 0);
    sched_yield();
    sem_post(&end);
    CHECK_EQUAL(pthread_join(thread, &value), 0);
    CHECK(value == &end);
    CHECK_EQUAL(pthread_create(&thread, NULL, end_later, &end), 0);
    CHECK_EQUAL(pthread_timedjoin_np(thread, &value, &past), ETIMEDOUT);
    sem_post(&end);
    const struct timespec late = {0x7fffffff, 0};
    CHECK_EQUAL(pthread_clockjoin_np(thread, &value, CLOCK_MONOTONIC, &late), 0);
    errno = 1234;
    CHECK_EQUAL(sem_post(&end), 0);
    CHECK_EQUAL(sem_wait(&end), 0);
    CHECK_EQUAL(errno, 1234);
  }
  CHECK_EQUAL(written, rounds * size);
  CHECK_EQUAL(spun, rounds * size);
  return FINISHED();
}
