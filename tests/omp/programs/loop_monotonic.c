// With monotonic schedules a member meets its iterations in rising order.
#include "check.h"

#define TRY(clause)                                  \
  _Pragma("omp parallel") {                          \
    int last = -1;                                   \
    _Pragma(clause) for (int i = 0; i < 1000; ++i) { \
      CHECK(i > last);                               \
      last = i;                                      \
    }                                                \
  }

int main(void) {
  TRY("omp for schedule(monotonic : dynamic)")
  TRY("omp for schedule(monotonic : dynamic, 5)")
  TRY("omp for schedule(monotonic : guided)")
  TRY("omp for schedule(monotonic : guided, 3)")
  TRY("omp for schedule(static, 2)")
  return FINISHED();
}
