// An allocator for containers that grow where malloc must not be called, because a preempted thread that waits for this
// worker may hold malloc's locks.
#pragma once

#include <cstddef>
#include <new>

#include "platform/platform.hpp"

namespace heddle::platform {

// Allocates whole pages straight from the system. It suits containers that are large, or few and long-lived. Throws
// std::bad_alloc.
template <class T>
struct page_allocator {
  using value_type = T;

  page_allocator() noexcept = default;
  template <class U>
  page_allocator(const page_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    void* const memory = n > static_cast<std::size_t>(-1) / 2 / sizeof(T) ? nullptr : reserve(n * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) noexcept { release(memory, n * sizeof(T)); }

  friend bool operator==(const page_allocator&, const page_allocator&) noexcept { return true; }
};

}  // namespace heddle::platform
