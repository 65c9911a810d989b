// lastprivate: the value of the last iteration, whichever thread had it; with firstprivate on the same variable.
// oracle: not libomp: with schedule(dynamic, 2) the last iteration is not always told that it is
#include "check.h"

#define TRY(clause)                                 \
  for (int n = 1; n < 60; n += 7) {                 \
    int last = -1, both = 1000;                     \
    _Pragma("omp parallel") {                       \
      _Pragma(clause) for (int i = 0; i < n; ++i) { \
        last = i * 2;                               \
        both = 1000 + i;                            \
      }                                             \
    }                                               \
    CHECK_EQUAL(last, (n - 1) * 2);                 \
    CHECK_EQUAL(both, 1000 + n - 1);                \
  }

int main(void) {
  TRY("omp for lastprivate(last) firstprivate(both) lastprivate(both)")
  TRY("omp for lastprivate(last) firstprivate(both) lastprivate(both) schedule(static, 1)")
  TRY("omp for lastprivate(last) firstprivate(both) lastprivate(both) schedule(static, 4)")
  TRY("omp for lastprivate(last) firstprivate(both) lastprivate(both) schedule(dynamic, 2)")
  TRY("omp for lastprivate(last) firstprivate(both) lastprivate(both) schedule(guided)")
  TRY("omp for lastprivate(last) firstprivate(both) lastprivate(both) schedule(runtime)")
  int i, j;
#pragma omp parallel for collapse(2) lastprivate(i, j)
  for (i = 0; i < 5; ++i)
    for (j = 0; j < 6; ++j) check_work(1);
  CHECK_EQUAL(i, 5);
  CHECK_EQUAL(j, 6);
  return FINISHED();
}
