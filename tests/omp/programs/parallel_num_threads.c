// Teams that grow and shrink from region to region have the size that was asked for.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  static const int sizes[] = {1, 4, 2, 8, 3, 7, 1, 16, 5, 2, 9, 1, 33, 4};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    int members = 0, sum = 0;
#pragma omp parallel num_threads(sizes[i]) reduction(+ : members, sum)
    {
      CHECK_EQUAL(omp_get_num_threads(), sizes[i]);
      members += 1;
      sum += omp_get_thread_num();
    }
    CHECK_EQUAL(members, sizes[i]);
    CHECK_EQUAL(sum, sizes[i] * (sizes[i] - 1) / 2);
  }
  for (int size = 1; size <= 6; ++size) {
    omp_set_num_threads(size);
    CHECK_EQUAL(omp_get_max_threads(), size);
#pragma omp parallel
    CHECK_EQUAL(omp_get_num_threads(), size);
  }
  return FINISHED();
}
