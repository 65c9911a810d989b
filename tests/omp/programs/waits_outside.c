// What is not a member's has the C library's own: threads that are cancelled while they wait, signals that end a sleep,
// constructors and destructors, and a child of fork() that a member makes.
// needs: preload, for the functions are replaced in that form only
// link: -pthread
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int cleaned, began;

__attribute__((constructor(101))) static void before_main(void) {
  pthread_mutex_lock(&mutex);
  usleep(1);
  pthread_cond_signal(&never);
  pthread_mutex_unlock(&mutex);
}
__attribute__((destructor)) static void after_main(void) { before_main(); }

static void clean(void* held) {
  if (held != NULL) pthread_mutex_unlock(held);
  __atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
}
static void* wait_for_ever(void* how) {
  __atomic_add_fetch(&began, 1, __ATOMIC_RELEASE);
  if (how == NULL) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean, &mutex);
    for (;;) pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
  } else {
    pthread_cleanup_push(clean, NULL);
    for (;;) sleep(1000);
    pthread_cleanup_pop(1);
  }
  return NULL;
}

static void handle(int unused) { (void)unused; }

static void in_child_of_member(void) {
  const pid_t child = fork();
  if (child == 0) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&own);
    if (pthread_cond_timedwait(&never, &own, &limit) != ETIMEDOUT) _exit(2);
    if (pthread_mutex_unlock(&own) != 0 || usleep(10) != 0 || sched_yield() != 0) _exit(3);
    _exit(0);
  }
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  CHECK_EQUAL(status, 0);
}

int main(void) {
  omp_set_dynamic(0);
  for (int round = 0; round < 2; ++round) {
    for (char* how = NULL; how < (char*)2; ++how) {
      pthread_t thread;
      void* result = NULL;
      began = cleaned = 0;
      pthread_create(&thread, NULL, wait_for_ever, how);
      while (__atomic_load_n(&began, __ATOMIC_ACQUIRE) == 0) usleep(10);
      CHECK_EQUAL(pthread_cancel(thread), 0);
      pthread_join(thread, &result);
      CHECK(result == PTHREAD_CANCELED);
      CHECK_EQUAL(cleaned, 1);
    }
    // The second round has members beside it.
#pragma omp parallel
    {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }
  }
  struct sigaction action = {.sa_handler = handle};
  sigaction(SIGALRM, &action, NULL);
  const struct timespec soon = {0, 1000000};
  // Again and again: the first signal may come before the sleep begins.
  struct itimerspec when = {.it_value = soon, .it_interval = soon};
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
  event._sigev_un._tid = gettid();
  timer_t timer;
  CHECK_EQUAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  CHECK_EQUAL(timer_settime(timer, 0, &when, NULL), 0);
  struct timespec left = {0, 0}, longer = {1000, 0};
  CHECK_EQUAL(nanosleep(&longer, &left), -1);
  CHECK_EQUAL(errno, EINTR);
  CHECK(left.tv_sec > 900);
  CHECK_EQUAL(timer_delete(timer), 0);
#pragma omp parallel
#pragma omp critical
  in_child_of_member();
  return FINISHED();
}
