// masked with a taskloop in one construct.
// not: clang-19, which leaves the loop out
#include "check.h"

int main(void) {
  int sum = 0, other = 0;
#pragma omp parallel masked taskloop num_threads(3) reduction(+ : sum)
  for (int i = 0; i < 10; ++i) sum += i;
  CHECK_EQUAL(sum, 45);
#pragma omp parallel num_threads(3)
  {
#pragma omp masked taskloop shared(other) filter(1)
    for (int i = 0; i < 10; ++i) {
#pragma omp atomic
      other += i;
    }
  }
  CHECK_EQUAL(other, 45);
  return FINISHED();
}
