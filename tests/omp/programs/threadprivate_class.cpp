// threadprivate objects with constructors, and copyin by their assignment.
#include "check.h"

struct counted {
  int value;
  counted() : value(5) {}
  explicit counted(int v) : value(v) {}
  counted& operator=(const counted& other) {
    value = other.value + 1;
    return *this;
  }
};

extern counted own;
#pragma omp threadprivate(own)
counted own;

int main() {
  omp_set_dynamic(0);
#pragma omp parallel num_threads(4)
  {
    CHECK_EQUAL(own.value, 5);
    own.value = 10 + omp_get_thread_num();
  }
#pragma omp parallel num_threads(4)
  CHECK_EQUAL(own.value, 10 + omp_get_thread_num());
  own.value = 50;
#pragma omp parallel num_threads(4) copyin(own)
  CHECK_EQUAL(own.value, omp_get_thread_num() == 0 ? 50 : 51);
  return FINISHED();
}
