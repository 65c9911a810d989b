// How every program of this folder checks itself, says so in a line, and ends with 0 or 1.
#pragma once

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_wrong;

// It may be used on any thread. It prints no more than the first few wrong conditions.
#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition) && __atomic_fetch_add(&check_wrong, 1, __ATOMIC_RELAXED) < 5) \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
  } while (0)

#define CHECK_EQUAL(got, wanted)                                                                           \
  do {                                                                                                     \
    const long long check_got = (long long)(got), check_wanted = (long long)(wanted);                      \
    if (check_got != check_wanted && __atomic_fetch_add(&check_wrong, 1, __ATOMIC_RELAXED) < 5)            \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, check_got, check_wanted); \
  } while (0)

static inline int check_finished(const char* name) {
  const int wrong = __atomic_load_n(&check_wrong, __ATOMIC_RELAXED);
  if (wrong == 0) printf("%s: right\n", name);
  else printf("%s: wrong in %d places\n", name, wrong);
  return wrong != 0;
}
#define FINISHED() check_finished(__FILE__)

// So that loops of work are not removed.
static inline int check_work(int n) {
  volatile int sum = 0;
  for (int i = 0; i < n; ++i) sum += i;
  return sum;
}
