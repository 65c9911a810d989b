// Measured constructs of OpenMP, one a file. They are plain C that any OpenMP compiler takes, so that the same program
// runs on the compiler's own runtime and on heddle's.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// One sample: runs the construct, and sets the number of its units (tasks, regions). main.c takes the time. Returns
// false if a result is wrong.
typedef bool (*construct_body)(int threads, size_t n, size_t* units);

struct construct {
  const char* name;
  const char* unit;  // of which the time of one is told
  size_t n;          // unless --n says otherwise; 0 means that the construct has no size
  construct_body body;
};

bool fib(int threads, size_t n, size_t* units);
bool wavefront(int threads, size_t n, size_t* units);
bool tasks_of_one(int threads, size_t n, size_t* units);
bool tasks_of_all(int threads, size_t n, size_t* units);
bool taskloop_of_ones(int threads, size_t n, size_t* units);
bool taskloop_whole(int threads, size_t n, size_t* units);
bool nested_regions(int threads, size_t n, size_t* units);
bool nested_loops(int threads, size_t n, size_t* units);
