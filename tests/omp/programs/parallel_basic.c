// A region's members have numbers 0 to size - 1, each once; shared, private and firstprivate variables.
#include "check.h"

int main(void) {
  for (int round = 0; round < 20; ++round) {
    int seen[256] = {0}, size = 0, first = 7, mine = 3, sum = 0;
#pragma omp parallel private(mine) firstprivate(first) reduction(+ : sum)
    {
      mine = omp_get_thread_num();
      CHECK_EQUAL(first, 7);
      first += mine;
      CHECK(omp_in_parallel() || omp_get_num_threads() == 1);
      CHECK_EQUAL(omp_get_level(), 1);
#pragma omp atomic
      ++seen[mine];
#pragma omp master
      size = omp_get_num_threads();
#pragma omp barrier
      CHECK_EQUAL(first, 7 + omp_get_thread_num());
      CHECK_EQUAL(size, omp_get_num_threads());
      sum += 1;
    }
    CHECK_EQUAL(sum, size);
    CHECK_EQUAL(mine, 3);
    CHECK_EQUAL(first, 7);
    CHECK_EQUAL(size, omp_get_max_threads());
    for (int i = 0; i < size; ++i) CHECK_EQUAL(seen[i], 1);
    CHECK_EQUAL(omp_get_level(), 0);
    CHECK_EQUAL(omp_get_num_threads(), 1);
    CHECK(!omp_in_parallel());
  }
  return FINISHED();
}
