// atomic: read, write, update, capture on all widths, floating point.
// link: -latomic
#include "check.h"

#define TRY(type)                                                                  \
  do {                                                                             \
    type sum = 0, product = 1, captured = 0, value, old;                           \
    unsigned long long olds = 0;                                                   \
    _Pragma("omp parallel for reduction(+ : olds)") for (int i = 0; i < 60; ++i) { \
      _Pragma("omp atomic") sum += 1;                                              \
      _Pragma("omp atomic update") product = product * 1;                          \
      type mine;                                                                   \
      _Pragma("omp atomic capture") mine = captured++;                             \
      olds += (unsigned long long)mine;                                            \
    }                                                                              \
    _Pragma("omp atomic read") value = sum;                                        \
    _Pragma("omp atomic write") old = value;                                       \
    CHECK(old == 60 && product == 1 && captured == 60);                            \
    CHECK_EQUAL(olds, 60 * 59 / 2);                                                \
    _Pragma("omp atomic capture") {                                                \
      old = sum;                                                                   \
      sum = 5;                                                                     \
    }                                                                              \
    _Pragma("omp atomic") sum -= 2;                                                \
    _Pragma("omp atomic") sum = 12 / sum;                                          \
    CHECK(old == 60 && sum == 4);                                                  \
  } while (0)

int main(void) {
  TRY(signed char);
  TRY(unsigned char);
  TRY(short);
  TRY(unsigned short);
  TRY(int);
  TRY(unsigned);
  TRY(long);
  TRY(unsigned long long);
  TRY(float);
  TRY(double);
  TRY(long double);
  int bits = 0, shifted = 1;
#pragma omp parallel for
  for (int i = 0; i < 30; ++i) {
#pragma omp atomic
    bits |= 1 << i;
#pragma omp atomic seq_cst
    shifted ^= 1 << i;
  }
  CHECK_EQUAL(bits, (1 << 30) - 1);
  CHECK_EQUAL(shifted, ((1 << 30) - 1) ^ 1);
  return FINISHED();
}
