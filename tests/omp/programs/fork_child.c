// A child of fork() has regions of its own, whether its parent had had one or not; a parent goes on.
// oracle: not libgomp: a child whose parent has had a team waits for threads that it has not
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int region(int size) {
  int sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
  {
    sum += 1;
#pragma omp barrier
#pragma omp task
    check_work(100);
  }
  return sum;
}

static void in_child(int size) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 10; ++i) {
      if (region(size) != size) _exit(1);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
}

int main(void) {
  omp_set_dynamic(0);
  in_child(3);
  CHECK_EQUAL(region(4), 4);
  in_child(4);
  in_child(2);
  CHECK_EQUAL(region(3), 3);
  return FINISHED();
}
