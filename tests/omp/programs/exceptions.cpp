// Exceptions thrown and caught inside a region, a loop, a task, a critical region; unwound through calls.
#include <stdexcept>
#include <string>

#include "check.h"

static int destroyed;
struct counted {
  ~counted() { __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED); }
};

static void thrower(int depth, int value) {
  counted here;
  if (depth == 0) throw std::runtime_error(std::to_string(value));
  thrower(depth - 1, value);
}

static int caught(int value) {
  try {
    thrower(5, value);
  } catch (const std::runtime_error& error) {
    return std::stoi(error.what());
  }
  return -1;
}

int main() {
  omp_set_dynamic(0);
#pragma omp parallel num_threads(4)
  {
    for (int i = 0; i < 50; ++i) CHECK_EQUAL(caught(i), i);
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; ++i) CHECK_EQUAL(caught(i), i);
#pragma omp single
    for (int i = 0; i < 20; ++i) {
#pragma omp task firstprivate(i)
      CHECK_EQUAL(caught(i), i);
    }
#pragma omp critical
    CHECK_EQUAL(caught(7), 7);
    // A handler that waits: what is being handled is the thread's own.
    try {
      throw omp_get_thread_num();
    } catch (int mine) {
#pragma omp barrier
      try {
        throw;
      } catch (int again) {
        CHECK_EQUAL(again, mine);
        CHECK_EQUAL(again, omp_get_thread_num());
      }
    }
  }
  CHECK_EQUAL(destroyed, (200 + 100 + 20 + 4) * 6);
  return FINISHED();
}
