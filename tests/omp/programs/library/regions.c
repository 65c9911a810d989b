// A library with regions, that dlopen_library.c loads.
#include <omp.h>

static int own;
#pragma omp threadprivate(own)

int count_members(int size);

int count_members(int size) {
  int sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
  {
    own += 1;
    sum += 1;
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; ++i) {
#pragma omp task
      own += 0;
    }
  }
  return sum;
}
