// Phases: nobody leaves a barrier before all have come.
#include "check.h"

static void phases(int size, int rounds) {
  int arrived = 0;
#pragma omp parallel num_threads(size)
  {
    for (int i = 1; i <= rounds; ++i) {
#pragma omp atomic
      ++arrived;
#pragma omp barrier
      int now;
#pragma omp atomic read
      now = arrived;
      CHECK_EQUAL(now, i * size);
#pragma omp barrier
    }
  }
}

int main(void) {
  omp_set_dynamic(0);
  for (int size = 1; size <= 9; ++size) phases(size, 50);
  phases(32, 10);
  return FINISHED();
}
