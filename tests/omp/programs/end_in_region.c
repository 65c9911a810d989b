// exit() inside a region ends the program, with its handlers.
#include "check.h"

static void at_end(void) { puts("end_in_region.c: right"); }

int main(void) {
  atexit(at_end);
  fflush(stdout);
#pragma omp parallel num_threads(4)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 2) exit(0);
#pragma omp barrier
  }
  return 1;
}
