// Loop variables of every integer type, at the ends of their ranges.
#include <limits.h>
#include <stdint.h>

#include "check.h"

#define UP(type, from, to, by, schedule_clause)                                                            \
  do {                                                                                                     \
    unsigned long long count = 0, sum = 0, count_serial = 0, sum_serial = 0;                               \
    const type first = (type)(from), last = (type)(to);                                                    \
    _Pragma("omp parallel") {                                                                              \
      _Pragma(schedule_clause) for (type i = first; i < last; i += by) {                                   \
        ++count;                                                                                           \
        sum += (unsigned long long)i;                                                                      \
      }                                                                                                    \
    }                                                                                                      \
    const unsigned long long trips = ((unsigned long long)last - (unsigned long long)first + by - 1) / by; \
    for (unsigned long long k = 0; k < trips; ++k) {                                                       \
      ++count_serial;                                                                                      \
      sum_serial += (unsigned long long)(type)(first + (type)(k * by));                                    \
    }                                                                                                      \
    CHECK_EQUAL(count, count_serial);                                                                      \
    CHECK_EQUAL(sum, sum_serial);                                                                          \
  } while (0)

#define DOWN(type, from, to, by, schedule_clause)                                                                    \
  do {                                                                                                               \
    unsigned long long count = 0, sum = 0, sum_serial = 0;                                                           \
    const type first = (type)(from), last = (type)(to);                                                              \
    _Pragma("omp parallel") {                                                                                        \
      _Pragma(schedule_clause) for (type i = first; i > last; i -= by) {                                             \
        ++count;                                                                                                     \
        sum += (unsigned long long)i;                                                                                \
      }                                                                                                              \
    }                                                                                                                \
    const unsigned long long trips = ((unsigned long long)first - (unsigned long long)last + by - 1) / by;           \
    for (unsigned long long k = 0; k < trips; ++k) sum_serial += (unsigned long long)(type)(first - (type)(k * by)); \
    CHECK_EQUAL(count, trips);                                                                                       \
    CHECK_EQUAL(sum, sum_serial);                                                                                    \
  } while (0)

#define ALL(clause)                                                                  \
  do {                                                                               \
    UP(signed char, -100, 20, 3, clause);                                            \
    UP(unsigned char, 1, 250, 2, clause);                                            \
    UP(short, SHRT_MIN, SHRT_MIN + 300, 1, clause);                                  \
    UP(unsigned short, 65000, 65530, 5, clause);                                     \
    UP(int, INT_MIN, INT_MIN + 500, 1, clause);                                      \
    UP(int, INT_MAX - 500, INT_MAX - 3, 2, clause);                                  \
    UP(unsigned, UINT_MAX - 500, UINT_MAX - 2, 1, clause);                           \
    UP(unsigned, 0x7fffff00u, 0x80000100u, 1, clause);                               \
    UP(long, LONG_MIN, LONG_MIN + 300, 1, clause);                                   \
    UP(unsigned long, ULONG_MAX - 300, ULONG_MAX - 5, 3, clause);                    \
    UP(long long, LLONG_MAX - 1000, LLONG_MAX - 10, 7, clause);                      \
    UP(unsigned long long, 0x7fffffffffffff00ull, 0x8000000000000100ull, 1, clause); \
    UP(size_t, 0, 1000, 13, clause);                                                 \
    UP(long long, -5000000000ll, -4999999000ll, 9, clause);                          \
    DOWN(int, 500, -500, 3, clause);                                                 \
    DOWN(unsigned long, 1000, 3, 1, clause);                                         \
    DOWN(long long, 5000000500ll, 5000000000ll, 7, clause);                          \
    DOWN(unsigned long long, ULLONG_MAX, ULLONG_MAX - 400, 1, clause);               \
    DOWN(short, SHRT_MAX, SHRT_MAX - 200, 1, clause);                                \
  } while (0)

int main(void) {
  ALL("omp for reduction(+ : count, sum)");
  ALL("omp for reduction(+ : count, sum) schedule(static, 3)");
  ALL("omp for reduction(+ : count, sum) schedule(dynamic)");
  ALL("omp for reduction(+ : count, sum) schedule(dynamic, 11)");
  ALL("omp for reduction(+ : count, sum) schedule(guided)");
  ALL("omp for reduction(+ : count, sum) schedule(runtime)");
  ALL("omp for reduction(+ : count, sum) schedule(monotonic : dynamic, 2)");
  return FINISHED();
}
