// Nearly empty tasks: of one producer, of all threads, of a taskloop.
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"

static bool all_once(const unsigned char* seen, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (seen[i] != 1) return false;
  return true;
}

// Returns true if `mark` adds 1 to each of n bytes.
static bool marks_all(void (*mark)(int threads, size_t n, unsigned char* seen), int threads, size_t n, size_t* units) {
  unsigned char* const seen = calloc(n, 1);
  if (seen == NULL) return false;
  mark(threads, n, seen);
  const bool right = all_once(seen, n);
  free(seen);
  *units = n;
  return right;
}

static void mark_by_one(int threads, size_t n, unsigned char* seen) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (size_t i = 0; i < n; ++i) {
#pragma omp task firstprivate(i, seen)
    ++seen[i];
  }
}

static void mark_by_all(int threads, size_t n, unsigned char* seen) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t i = 0; i < n; ++i) {
#pragma omp task firstprivate(i, seen)
    ++seen[i];
  }
}

// A task for each iteration.
static void mark_by_taskloop(int threads, size_t n, unsigned char* seen) {
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop grainsize(1) firstprivate(seen)
  for (size_t i = 0; i < n; ++i) ++seen[i];
}

bool tasks_of_one(int threads, size_t n, size_t* units) { return marks_all(mark_by_one, threads, n, units); }

bool tasks_of_all(int threads, size_t n, size_t* units) { return marks_all(mark_by_all, threads, n, units); }

bool taskloop_of_ones(int threads, size_t n, size_t* units) { return marks_all(mark_by_taskloop, threads, n, units); }

// As the runtime cuts it, 64 iterations each: n constructs.
bool taskloop_whole(int threads, size_t n, size_t* units) {
  size_t sum = 0;
  unsigned char seen[64] = {0};
  unsigned char* const at = seen;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (size_t k = 0; k < n; ++k) {
#pragma omp taskloop firstprivate(at)
    for (size_t i = 0; i < 64; ++i) ++at[i];
    sum += seen[k % 64];
  }
  size_t expected = 0;
  for (size_t k = 0; k < n; ++k) expected += (k + 1) & 255;
  *units = n;
  return sum == expected;
}
