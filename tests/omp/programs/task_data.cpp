// The data that a task takes along: firstprivate copies of objects, large ones and arrays; shared ones by reference.
#include <string>

#include "check.h"

static int alive;

struct counted {
  int value;
  explicit counted(int v) : value(v) { __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED); }
  counted(const counted& other) : value(other.value) { __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED); }
  ~counted() { __atomic_fetch_sub(&alive, 1, __ATOMIC_RELAXED); }
};

int main() {
  long sum = 0;
  {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 50; ++i) {
      counted object(i);
      std::string text(100 + i, 'x');
      char large[3000];
      memset(large, i, sizeof large);
      alignas(64) double aligned[8] = {0, 0, 0, 0, 0, 0, 0, double(i)};
#pragma omp task firstprivate(object, text, large, aligned) shared(sum)
      {
        CHECK_EQUAL(object.value, i);
        CHECK_EQUAL(text.size(), 100 + i);
        CHECK(large[0] == i && large[2999] == i);
        CHECK(aligned[7] == i);
#pragma omp atomic
        sum += object.value;
      }
    }
  }
  CHECK_EQUAL(sum, 1225);
  CHECK_EQUAL(alive, 0);
  return FINISHED();
}
