// collapse of two and three loops, also of different types and with an empty one among them.
#include "check.h"

int main(void) {
  static int a[7][11], b[3][5][4];
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 11; ++j) a[i][j] += i * 100 + j;
#pragma omp parallel for collapse(2) schedule(dynamic, 3)
  for (int i = 6; i >= 0; --i)
    for (long j = 0; j < 11; j += 2) a[i][j] += 1000;
#pragma omp parallel for collapse(2) schedule(guided)
  for (unsigned char i = 0; i < 7; ++i)
    for (long long j = 10; j > 0; j -= 3) a[i][j] += 10000;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 11; ++j) CHECK_EQUAL(a[i][j], i * 100 + j + (j % 2 == 0 ? 1000 : 0) + (j % 3 == 1 ? 10000 : 0));
#pragma omp parallel for collapse(3) schedule(static, 1)
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k < 4; ++k) b[i][j][k]++;
  for (int i = 0; i < 60; ++i) CHECK_EQUAL((&b[0][0][0])[i], 1);
  int none = 0;
  for (int n = 0; n < 2; ++n) {
#pragma omp parallel for collapse(2) reduction(+ : none)
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < n; ++j) ++none;
  }
  CHECK_EQUAL(none, 10);
  return FINISHED();
}
