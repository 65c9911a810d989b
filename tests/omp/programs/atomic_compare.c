// atomic compare: minimum, maximum, compare and exchange.
#include "check.h"

int main(void) {
  int least = 1000000, most = -1, flag = 0, winners = 0;
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 500; ++i) {
    const int x = (i * 7919) % 503;
#pragma omp atomic compare
    if (x < least) {
      least = x;
    }
#pragma omp atomic compare
    if (x > most) {
      most = x;
    }
    int seen;
#pragma omp atomic compare capture
    {
      seen = flag;
      if (flag == 0) {
        flag = 1;
      }
    }
    if (seen == 0) {
#pragma omp atomic
      ++winners;
    }
  }
  CHECK_EQUAL(least, 0);
  CHECK_EQUAL(most, 502);
  CHECK_EQUAL(winners, 1);
  return FINISHED();
}
