// A function that opens a region of two and calls itself in it, five levels deep: 32 leaves alive at a time.
#include "check.h"

static int leaves(int depth) {
  if (depth == 0) return 1;
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  sum += leaves(depth - 1);
  return sum;
}

int main(void) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(5);
  for (int round = 0; round < 5; ++round) CHECK_EQUAL(leaves(5), 32);
  omp_set_max_active_levels(2);
  CHECK_EQUAL(leaves(5), 4);
  return FINISHED();
}
