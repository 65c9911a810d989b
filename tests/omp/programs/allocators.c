// omp_alloc and its kin, allocators with traits, the allocate directive and clause.
#include <stdint.h>

#include "check.h"

int main(void) {
  static const omp_allocator_handle_t given[] = {omp_default_mem_alloc, omp_large_cap_mem_alloc, omp_const_mem_alloc,
                                                 omp_high_bw_mem_alloc, omp_low_lat_mem_alloc,   omp_cgroup_mem_alloc,
                                                 omp_pteam_mem_alloc,   omp_thread_mem_alloc,    omp_null_allocator};
  for (unsigned i = 0; i < sizeof given / sizeof *given; ++i) {
    char* p = omp_alloc(1000, given[i]);
    if (p == NULL) continue;  // where the machine has no such memory
    memset(p, 1, 1000);
    omp_free(p, omp_null_allocator);
  }
  char* p = omp_aligned_alloc(256, 1024, omp_default_mem_alloc);
  CHECK(p != NULL && (uintptr_t)p % 256 == 0);
  omp_free(p, omp_default_mem_alloc);
  int* zero = omp_calloc(100, sizeof(int), omp_default_mem_alloc);
  for (int i = 0; i < 100; ++i) {
    CHECK_EQUAL(zero[i], 0);
    zero[i] = i;
  }
  zero = omp_realloc(zero, 200 * sizeof(int), omp_default_mem_alloc, omp_default_mem_alloc);
  for (int i = 0; i < 100; ++i) CHECK_EQUAL(zero[i], i);
  omp_free(zero, omp_default_mem_alloc);
  p = omp_aligned_calloc(64, 10, 10, omp_default_mem_alloc);
  CHECK(p != NULL && (uintptr_t)p % 64 == 0 && p[99] == 0);
  omp_free(p, omp_null_allocator);

  omp_alloctrait_t traits[] = {
      {omp_atk_alignment, 128}, {omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 3, traits);
  CHECK(pool != omp_null_allocator);
  char* first = omp_alloc(2000, pool);
  CHECK(first != NULL && (uintptr_t)first % 128 == 0);
  CHECK(omp_alloc(4000, pool) == NULL);
  omp_free(first, pool);
  first = omp_alloc(3000, pool);
  CHECK(first != NULL);
  omp_free(first, omp_null_allocator);
  omp_destroy_allocator(pool);

  const omp_allocator_handle_t before = omp_get_default_allocator();
  omp_set_default_allocator(omp_large_cap_mem_alloc);
  CHECK(omp_get_default_allocator() == omp_large_cap_mem_alloc);
  omp_set_default_allocator(before);

  int sum = 0, mine = 3;
#pragma omp parallel firstprivate(mine) allocate(omp_default_mem_alloc : mine) reduction(+ : sum) num_threads(4)
  {
    void* own = omp_alloc(64, omp_default_mem_alloc);
    CHECK(own != NULL);
    omp_free(own, omp_default_mem_alloc);
    sum += mine;
  }
  CHECK(sum % 3 == 0 && sum > 0);
  return FINISHED();
}
