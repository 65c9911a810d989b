// Tasks in a team of eight, whatever the machine: producers on all members, waits at all levels.
#include "check.h"

static int walk(int depth) {
  if (depth == 0) return 1;
  int sum = 0;
#pragma omp taskgroup
  {
    for (int i = 0; i < 3; ++i) {
#pragma omp task shared(sum)
      {
        const int below = walk(depth - 1);
#pragma omp atomic
        sum += below;
      }
    }
  }
  return sum;
}

int main(void) {
  omp_set_dynamic(0);
  int total = 0;
#pragma omp parallel num_threads(8) reduction(+ : total)
  {
    total += walk(4);
#pragma omp barrier
    total += walk(3);
  }
  CHECK_EQUAL(total, 8 * (81 + 27));
  return FINISHED();
}
