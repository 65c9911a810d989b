// Memory for the model's tables. Accesses to them are random, so with pages of 4 KB each would also miss the TLB.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace heddle::sim {

template <class T>
struct huge_page_allocator {
  using value_type = T;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  huge_page_allocator() = default;
  template <class U>
  huge_page_allocator(const huge_page_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    const std::size_t align = bytes >= huge_page ? huge_page : 64;
    void* const p = std::aligned_alloc(align, (bytes + align - 1) / align * align);
    if (p == nullptr) throw std::bad_alloc();
    // Advice only: if the kernel has no huge pages, small ones are used.
    if (bytes >= huge_page) (void)madvise(p, bytes / huge_page * huge_page, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) noexcept { std::free(p); }
  friend bool operator==(const huge_page_allocator&, const huge_page_allocator&) noexcept { return true; }
};

template <class T>
using table = std::vector<T, huge_page_allocator<T>>;

}  // namespace heddle::sim
