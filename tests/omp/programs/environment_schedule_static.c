// OMP_SCHEDULE with a chunk of a static schedule, seen in who runs what.
// env: OMP_SCHEDULE=static,4 OMP_NUM_THREADS=3 OMP_DYNAMIC=false
#include "check.h"

int main(void) {
  int owner[60];
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < 60; ++i) owner[i] = omp_get_thread_num();
  for (int i = 0; i < 60; ++i) CHECK_EQUAL(owner[i], i / 4 % 3);
  return FINISHED();
}
