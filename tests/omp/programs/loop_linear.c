// linear variables of a loop.
#include "check.h"

int main(void) {
  static int a[300];
  int at = 10;
#pragma omp parallel for linear(at : 2) schedule(static, 7)
  for (int i = 0; i < 100; ++i) {
    a[at] = i;
    at += 2;
  }
  CHECK_EQUAL(at, 210);
  for (int i = 0; i < 100; ++i) CHECK_EQUAL(a[10 + 2 * i], i);
  return FINISHED();
}
