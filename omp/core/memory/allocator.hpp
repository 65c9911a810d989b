// Memory allocators (OpenMP 5.1, sections 2.13 and 3.13). All memory spaces are the machine's one memory here. An
// allocator adds to malloc: alignment, a pool's size, and a rule for the case that there is no memory left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::omp::allocators {

// omp_allocator_handle_t: 0 means none, small numbers are the predefined ones, others are addresses of allocators that
// were made.
using handle = std::uintptr_t;

inline constexpr handle null = 0;
inline constexpr handle default_memory = 1;

// omp_alloctrait_t
struct trait {
  std::int32_t key;
  std::uintptr_t value;
};

// omp_init_allocator. Returns null if a trait is impossible or not supported: pinned memory and high-bandwidth memory.
handle make(std::uintptr_t space, int count, const trait* traits) noexcept;
void destroy(handle of) noexcept;

// If `of` is null, uses the default allocator of the calling task. Alignment 0 means the allocator's. Returns null for
// size 0. If there is no memory, returns what the fallback trait says.
void* allocate(std::size_t alignment, std::size_t size, handle of) noexcept;
void* allocate_zeroed(std::size_t alignment, std::size_t count, std::size_t size, handle of) noexcept;
// If `of` is null, uses the allocator from which the memory came. Size 0 frees.
void* reallocate(void* memory, std::size_t size, handle of) noexcept;
void release(void* memory) noexcept;

// OMP_ALLOCATOR (section 6.22): the name of a predefined allocator, or of a memory space, with or without traits.
bool from_text(std::string_view text, handle& result);
std::string to_text(handle of);

}  // namespace heddle::omp::allocators
