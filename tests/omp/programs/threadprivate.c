// threadprivate variables persist from region to region of one size, and the initial thread's are those of member 0.
#include "check.h"

static int own = 100;
static double array[40];
#pragma omp threadprivate(own, array)

int main(void) {
  omp_set_dynamic(0);
  own = 1;
  int* const initial = &own;
  int* address[8] = {0};
#pragma omp parallel num_threads(4)
  {
    const int me = omp_get_thread_num();
    if (me == 0) CHECK(&own == initial && own == 1);
    else CHECK_EQUAL(own, 100);
    address[me] = &own;
    own = 10 + me;
    array[39] = me;
#pragma omp barrier
    CHECK_EQUAL(own, 10 + me);
    for (int other = 0; other < 4; ++other) CHECK(other == me || address[other] != &own);
  }
  for (int round = 0; round < 10; ++round) {
    check_work(1000);
#pragma omp parallel num_threads(4)
    {
      const int me = omp_get_thread_num();
      CHECK_EQUAL(own, 10 + me + round);
      CHECK_EQUAL(array[39], me);
      CHECK(address[me] == &own);
      ++own;
    }
  }
  CHECK_EQUAL(own, 20);
  return FINISHED();
}
