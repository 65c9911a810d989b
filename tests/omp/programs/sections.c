// Each section once, fewer and more of them than threads; lastprivate, reduction; combined with the region.
#include "check.h"

int main(void) {
  for (int round = 0; round < 20; ++round) {
    int count[6] = {0}, last = 0, sum = 0;
#pragma omp parallel
    {
#pragma omp sections lastprivate(last) reduction(+ : sum)
      {
#pragma omp section
        {
          ++count[0];
          sum += 1;
          last = 1;
        }
#pragma omp section
        {
          ++count[1];
          sum += 2;
          last = 2;
        }
#pragma omp section
        {
          ++count[2];
          sum += 3;
          last = 3;
        }
      }
      CHECK_EQUAL(last, 3);
    }
#pragma omp parallel sections num_threads(2)
    {
      ++count[3];
#pragma omp section
      ++count[4];
#pragma omp section
      ++count[5];
    }
    for (int i = 0; i < 6; ++i) CHECK_EQUAL(count[i], 1);
    CHECK_EQUAL(sum, 6);
  }
  return FINISHED();
}
