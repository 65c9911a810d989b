// ordered regions are executed in the order of the iterations, for every schedule; one that an iteration leaves out
// holds nobody up.
#include "check.h"

#define TRY(clause)                                   \
  do {                                                \
    int next = 0, last = -1;                          \
    _Pragma("omp parallel") {                         \
      _Pragma(clause) for (int i = 0; i < 200; ++i) { \
        check_work(i % 7 * 20);                       \
        if (i % 5 != 3) {                             \
          _Pragma("omp ordered") {                    \
            CHECK(i > last);                          \
            last = i;                                 \
            ++next;                                   \
          }                                           \
        }                                             \
      }                                               \
    }                                                 \
    CHECK_EQUAL(next, 160);                           \
  } while (0)

int main(void) {
  TRY("omp for ordered");
  TRY("omp for ordered schedule(static, 1)");
  TRY("omp for ordered schedule(static, 3)");
  TRY("omp for ordered schedule(dynamic)");
  TRY("omp for ordered schedule(dynamic, 4)");
  TRY("omp for ordered schedule(guided)");
  TRY("omp for ordered schedule(guided, 3)");
  TRY("omp for ordered schedule(runtime)");
  TRY("omp for ordered schedule(auto)");
  TRY("omp for ordered schedule(monotonic : dynamic, 2)");
  // Two of them in one region, without a barrier between.
  int first = 0, second = 0;
#pragma omp parallel
  {
#pragma omp for ordered schedule(dynamic) nowait
    for (int i = 0; i < 50; ++i) {
#pragma omp ordered
      CHECK_EQUAL(first++, i);
    }
#pragma omp for ordered schedule(static, 2)
    for (long i = 0; i < 50; ++i) {
#pragma omp ordered
      CHECK_EQUAL(second++, i);
    }
  }
  return FINISHED();
}
