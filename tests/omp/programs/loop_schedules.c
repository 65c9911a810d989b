// Every schedule and chunk, odd bounds and steps: each iteration once.
#include "check.h"

static char seen[1100];

static void verify(int first, int last, int step, const char* what) {
  int at = 0, wrong = 0;
  if (step > 0)
    for (int i = first; i < last; i += step) seen[at++]--;
  else
    for (int i = first; i > last; i += step) seen[at++]--;
  for (int i = 0; i < 1100; ++i) wrong += seen[i] != 0;
  if (wrong != 0) fprintf(stderr, "%s: %d to %d by %d\n", what, first, last, step);
  CHECK_EQUAL(wrong, 0);
  memset(seen, 0, sizeof seen);
}

#define BODY seen[(i - first) / step]++
#define TRY(clause)                                                                              \
  do {                                                                                           \
    if (step > 0) {                                                                              \
      _Pragma("omp parallel") { _Pragma(clause) for (int i = first; i < last; i += step) BODY; } \
    } else {                                                                                     \
      _Pragma("omp parallel") { _Pragma(clause) for (int i = first; i > last; i += step) BODY; } \
    }                                                                                            \
    verify(first, last, step, clause);                                                           \
  } while (0)

int main(void) {
  static const int bounds[][3] = {
      {0, 1000, 1},    {0, 1, 1},  {5, 5, 1},  {7, 3, 1},  {-13, 801, 3}, {0, 7, 2},    {999, -1, -1},
      {100, -333, -7}, {3, 3, -1}, {0, 13, 1}, {0, 64, 1}, {-5, 0, 5},    {1, 1099, 1}, {2147483640, 2147483647, 1}};
  for (unsigned b = 0; b < sizeof bounds / sizeof *bounds; ++b) {
    const int first = bounds[b][0], last = bounds[b][1], step = bounds[b][2];
    if (first > 2000000000) continue;  // loop_types.c
    TRY("omp for");
    TRY("omp for schedule(static)");
    TRY("omp for schedule(static, 1)");
    TRY("omp for schedule(static, 7)");
    TRY("omp for schedule(static, 5000)");
    TRY("omp for schedule(dynamic)");
    TRY("omp for schedule(dynamic, 3)");
    TRY("omp for schedule(dynamic, 5000)");
    TRY("omp for schedule(guided)");
    TRY("omp for schedule(guided, 5)");
    TRY("omp for schedule(auto)");
    TRY("omp for schedule(runtime)");
    TRY("omp for schedule(monotonic : dynamic, 4)");
    TRY("omp for schedule(nonmonotonic : dynamic, 4)");
    TRY("omp for schedule(monotonic : guided)");
    TRY("omp for schedule(nonmonotonic : guided, 2)");
    TRY("omp for schedule(monotonic : static, 3)");
    TRY("omp for schedule(nonmonotonic : runtime)");
    TRY("omp for nowait");
    TRY("omp for schedule(dynamic) nowait");
    TRY("omp for schedule(static, 3) ordered");
    TRY("omp for schedule(dynamic, 2) ordered");
    TRY("omp for schedule(guided) ordered");
  }
  return FINISHED();
}
