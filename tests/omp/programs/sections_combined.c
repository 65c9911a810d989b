// parallel sections whose variable is both firstprivate and lastprivate: gcc puts a barrier between the construct's
// begin and its first section.
#include "check.h"

static int last_of_two(int threads) {
  int n = 1;
#pragma omp parallel sections num_threads(threads) firstprivate(n) lastprivate(n)
  {
#pragma omp section
    {
      n = n == 1 ? 3 : -1;
    }
#pragma omp section
    {
      n = n == 1 || n == 3 ? 4 : -1;
    }  // 3: the thread has run the first section, too
  }
  return n;
}

// Every section runs once, and each sees the value from before the construct.
static int sum_of_sections(int threads) {
  int base = 10;
  int sum = 0;
#pragma omp parallel sections num_threads(threads) firstprivate(base) lastprivate(base) reduction(+ : sum)
  {
#pragma omp section
    {
      sum += base + 1;
    }
#pragma omp section
    {
      sum += base + 2;
    }
#pragma omp section
    {
      sum += base + 3;
      base = 4;
    }
  }
  return sum + base;
}

int main(void) {
  omp_set_dynamic(0);
  for (int round = 0; round < 50; ++round) {
    for (int threads = 1; threads <= 5; ++threads) {
      CHECK_EQUAL(last_of_two(threads), 4);
      CHECK_EQUAL(sum_of_sections(threads), 40);
    }
  }
  return FINISHED();
}
