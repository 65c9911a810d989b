// A reduction of an inner region inside one of an outer one, and one over teams of different sizes.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  for (int round = 0; round < 10; ++round) {
    long sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 0; i < 9; ++i) {
      long inner = 0;
#pragma omp parallel for num_threads(1 + i % 4) reduction(+ : inner)
      for (int j = 0; j < 100; ++j) inner += i * j;
      sum += inner;
    }
    CHECK_EQUAL(sum, 36 * 4950);
  }
  return FINISHED();
}
