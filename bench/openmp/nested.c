// Regions inside a region: each thread of the outer region encounters n inner regions of as many threads.
#include <omp.h>
#include <stdatomic.h>

#include "bench.h"

bool nested_regions(int threads, size_t n, size_t* units) {
  atomic_size_t entered = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(threads)
  for (size_t k = 0; k < n; ++k) {
#pragma omp parallel num_threads(threads)
    if (omp_get_thread_num() == 0) atomic_fetch_add_explicit(&entered, 1, memory_order_relaxed);
  }
  *units = n * (size_t)threads;
  return entered == *units;
}

// The inner region is a loop with a reduction, of 1,000 iterations.
bool nested_loops(int threads, size_t n, size_t* units) {
  atomic_size_t wrong = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(threads)
  for (size_t k = 0; k < n; ++k) {
    unsigned long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (unsigned long i = 0; i < 1000; ++i) sum += i ^ k;
    unsigned long expected = 0;
    for (unsigned long i = 0; i < 1000; ++i) expected += i ^ k;
    if (sum != expected) atomic_fetch_add(&wrong, 1);
  }
  *units = n * (size_t)threads;
  return wrong == 0;
}
