// Memory: OpenMP 5.1, section 3.13, and the names by which compilers allocate.
#include "omp/core/memory/allocator.hpp"

#include "omp/api/api.hpp"

namespace memory = heddle::omp::allocators;

extern "C" {

std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const void* traits) {
  return memory::make(space, count, static_cast<const memory::trait*>(traits));
}
void omp_destroy_allocator(std::uintptr_t allocator) { memory::destroy(allocator); }

void* omp_alloc(std::size_t size, std::uintptr_t allocator) { return memory::allocate(0, size, allocator); }
void* omp_aligned_alloc(std::size_t alignment, std::size_t size, std::uintptr_t allocator) {
  return memory::allocate(alignment, size, allocator);
}
void* omp_calloc(std::size_t count, std::size_t size, std::uintptr_t allocator) {
  return memory::allocate_zeroed(0, count, size, allocator);
}
void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size, std::uintptr_t allocator) {
  return memory::allocate_zeroed(alignment, count, size, allocator);
}
void* omp_realloc(void* old, std::size_t size, std::uintptr_t allocator, std::uintptr_t) {
  return memory::reallocate(old, size, allocator);
}
void omp_free(void* old, std::uintptr_t) { memory::release(old); }

// gcc calls these for variables with an allocate directive.
HEDDLE_API void* GOMP_alloc(std::size_t alignment, std::size_t size, std::uintptr_t allocator) {
  return memory::allocate(alignment, size, allocator);
}
HEDDLE_API void GOMP_free(void* old, std::uintptr_t) { memory::release(old); }

// The functions of the LLVM ABI, with the thread's number in front.
HEDDLE_API void* __kmpc_alloc(int, std::size_t size, std::uintptr_t allocator) { return omp_alloc(size, allocator); }
HEDDLE_API void* __kmpc_aligned_alloc(int, std::size_t alignment, std::size_t size, std::uintptr_t allocator) {
  return omp_aligned_alloc(alignment, size, allocator);
}
HEDDLE_API void* __kmpc_calloc(int, std::size_t count, std::size_t size, std::uintptr_t allocator) {
  return omp_calloc(count, size, allocator);
}
HEDDLE_API void* __kmpc_realloc(int, void* old, std::size_t size, std::uintptr_t allocator, std::uintptr_t from) {
  return omp_realloc(old, size, allocator, from);
}
HEDDLE_API void __kmpc_free(int, void* old, std::uintptr_t allocator) { omp_free(old, allocator); }
HEDDLE_API std::uintptr_t __kmpc_init_allocator(int, std::uintptr_t space, int count, const void* traits) {
  return omp_init_allocator(space, count, traits);
}
HEDDLE_API void __kmpc_destroy_allocator(int, std::uintptr_t allocator) { omp_destroy_allocator(allocator); }
HEDDLE_API void __kmpc_set_default_allocator(int, std::uintptr_t allocator) { omp_set_default_allocator(allocator); }
HEDDLE_API std::uintptr_t __kmpc_get_default_allocator(int) { return omp_get_default_allocator(); }

// The handles as objects, to which Fortran modules of the LLVM ABI refer.
#define HEDDLE_HANDLE(name, number) extern HEDDLE_API const std::uintptr_t name = number;
HEDDLE_HANDLE(omp_null_allocator, 0)
HEDDLE_HANDLE(omp_default_mem_alloc, 1)
HEDDLE_HANDLE(omp_large_cap_mem_alloc, 2)
HEDDLE_HANDLE(omp_const_mem_alloc, 3)
HEDDLE_HANDLE(omp_high_bw_mem_alloc, 4)
HEDDLE_HANDLE(omp_low_lat_mem_alloc, 5)
HEDDLE_HANDLE(omp_cgroup_mem_alloc, 6)
HEDDLE_HANDLE(omp_pteam_mem_alloc, 7)
HEDDLE_HANDLE(omp_thread_mem_alloc, 8)
HEDDLE_HANDLE(kmp_max_mem_alloc, 1024)
HEDDLE_HANDLE(omp_default_mem_space, 0)
HEDDLE_HANDLE(omp_large_cap_mem_space, 1)
HEDDLE_HANDLE(omp_const_mem_space, 2)
HEDDLE_HANDLE(omp_high_bw_mem_space, 3)
HEDDLE_HANDLE(omp_low_lat_mem_space, 4)

}  // extern "C"
