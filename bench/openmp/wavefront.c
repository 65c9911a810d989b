// n x n tasks by one thread, each of which depends on the one above and the one to the left.
#include <omp.h>
#include <stdlib.h>

#include "bench.h"

bool wavefront(int threads, size_t n, size_t* units) {
  const size_t width = n + 1;  // a row and a column of ones in front
  unsigned* const cell = malloc(width * width * sizeof *cell);
  if (cell == NULL) return false;
  for (size_t i = 0; i < width; ++i) cell[i] = cell[i * width] = 1;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (size_t i = 1; i < width; ++i) {
    for (size_t j = 1; j < width; ++j) {
      unsigned* const up = &cell[(i - 1) * width + j];
      unsigned* const left = &cell[i * width + j - 1];
      unsigned* const here = &cell[i * width + j];
#pragma omp task firstprivate(up, left, here) depend(in : *up, *left) depend(out : *here)
      *here = *up + *left;
    }
  }
  bool right = true;
  for (size_t i = 1; i < width && right; ++i)
    for (size_t j = 1; j < width && right; ++j)
      right = cell[i * width + j] == cell[(i - 1) * width + j] + cell[i * width + j - 1];
  free(cell);
  *units = n * n;
  return right;
}
