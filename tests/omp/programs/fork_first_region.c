// fork() while other threads are in their first regions: a lock of the runtime that one of them holds
// at that moment does not stop the child. (A lock of the program would: its regions have no critical section.)
// oracle: not libgomp: a child whose parent has had a team waits for threads that it has not
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int region(void) {
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    sum += 1;
    free(malloc(100));
#pragma omp task
    check_work(10);
  }
  return sum;
}

static int stop;

static void* in_regions(void* unused) {
  int more = 1;
  while (more) {
    if (region() != 3) abort();
#pragma omp atomic read
    more = stop;
    more = !more;
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  omp_set_dynamic(0);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, in_regions, NULL);
  fflush(NULL);
  for (int round = 0; round < 40; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a child that hangs is killed
      _exit(region() == 3 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
  }
#pragma omp atomic write
  stop = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  return FINISHED();
}
