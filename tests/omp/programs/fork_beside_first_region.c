// fork() at 40 moments of the first region of a process, which is another thread's: what that thread does once in the
// process at that moment (it reads the variables and the machine) does not stop the child.
// oracle: not libomp: a child waits for the lock under which its parent began
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int region(void) {
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  sum += 1;
  return sum;
}

static int begun;

static void* in_first_region(void* unused) {
#pragma omp atomic write
  begun = 1;
  if (region() != 3) _exit(1);
  return unused;
}

static void wait_for(long nanoseconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < nanoseconds);
}

static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// In a process that has had no region: another thread begins one, and this one forks after a while.
static int fork_after(long nanoseconds) {
  pthread_t thread;
  pthread_create(&thread, NULL, in_first_region, NULL);
  for (int seen = 0; !seen;) {
#pragma omp atomic read
    seen = begun;
  }
  wait_for(nanoseconds);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a child that hangs is killed
    _exit(region() == 3 ? 0 : 1);
  }
  const int status = status_of(child);
  pthread_join(thread, NULL);
  return status == 0 ? 0 : 1;
}

int main(void) {
  fflush(NULL);
  for (int round = 0; round < 40; ++round) {
    const pid_t process = fork();
    if (process == 0) _exit(fork_after(round * 25000));
    CHECK_EQUAL(status_of(process), 0);
  }
  return FINISHED();
}
