// A team far larger than the machine, with barriers and a reduction.
#include "check.h"

int main(void) {
  omp_set_dynamic(0);
  enum { size = 100 };
  int phase[size] = {0}, sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
  {
    const int me = omp_get_thread_num();
    CHECK_EQUAL(omp_get_num_threads(), size);
    for (int i = 1; i <= 5; ++i) {
      phase[me] = i;
#pragma omp barrier
      CHECK_EQUAL(phase[(me + 1) % size], i);
#pragma omp barrier
    }
    sum += me;
  }
  CHECK_EQUAL(sum, size * (size - 1) / 2);
  return FINISHED();
}
