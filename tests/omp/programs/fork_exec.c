// A member of a team starts a program; the team goes on.
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

int main(void) {
  omp_set_dynamic(0);
#pragma omp parallel num_threads(3)
  {
#pragma omp critical
    {
      const pid_t child = fork();
      if (child == 0) {
        execl("/bin/true", "true", (char*)NULL);
        _exit(1);
      }
      int status = -1;
      waitpid(child, &status, 0);
      CHECK_EQUAL(status, 0);
    }
#pragma omp barrier
  }
  return FINISHED();
}
