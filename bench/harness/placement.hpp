// Memory whose pages lie where --touch says; the same for every runtime.
//   first       pages come to the node of the worker that touches them first; the kernel initialises in parallel
//   interleave  over all nodes in turn, as under numactl --interleave=all
//   serial      the thread that runs setup touches all: one node has everything
// On a real machine the kernel places pages (mbind); in a simulation the page table of the model does.
#pragma once

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "harness/cost.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

enum class touch { first, interleave, serial };

inline bool is_touch(std::string_view text) { return text == "first" || text == "interleave" || text == "serial"; }
inline touch touch_of(std::string_view text, touch otherwise) {
  if (text == "first") return touch::first;
  if (text == "interleave") return touch::interleave;
  if (text == "serial") return touch::serial;
  return otherwise;
}

// Interleaves over the nodes that the process may use. Does nothing if there is only one, or if the system refuses;
// then pages lie as they come.
inline void interleave_pages(void* memory, std::size_t bytes) {
  if (const auto* model = told::model(); model != nullptr) {
    static_cast<void>(model->place(memory, bytes, 1, 0));
    return;
  }
  unsigned long nodes[16] = {};
  constexpr unsigned long bits = sizeof nodes * 8;
  if (syscall(SYS_get_mempolicy, nullptr, nodes, bits, nullptr, MPOL_F_MEMS_ALLOWED) != 0) return;
  static_cast<void>(syscall(SYS_mbind, memory, bytes, MPOL_INTERLEAVE, nodes, bits, 0));
}

// n objects of a trivial type in pages of their own, zero at first and untouched.
template <class T>
class placed_array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  placed_array() = default;
  placed_array(std::size_t n, touch how) : size_(n), bytes_((n * sizeof(T) + page - 1) / page * page) {
    if (n == 0) return;
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(memory);
    if (how == touch::interleave) interleave_pages(memory, bytes_);
  }
  placed_array(placed_array&& other) noexcept { swap(other); }
  placed_array& operator=(placed_array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~placed_array() {
    if (data_ == nullptr) return;
    if (const auto* model = told::model(); model != nullptr) model->forget(data_, bytes_);
    munmap(data_, bytes_);
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] T* begin() const { return data_; }
  [[nodiscard]] T* end() const { return data_ + size_; }

 private:
  void swap(placed_array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
  }

  static constexpr std::size_t page = 4096;
  T* data_ = nullptr;
  std::size_t size_ = 0, bytes_ = 0;
};

// The calling worker is the first to touch the pages that begin in [first, last); `memory` is where the whole memory
// begins. A page fault takes one to three microseconds, not always the same. The variation matters, because the
// simulator numbers page frames in the order of first touch, and workers in step would each get frames of one colour,
// which is a part of their caches.
inline void touch_pages_from(const void* memory, const void* first, const void* last) {
  constexpr std::uintptr_t page = 4096;
  const auto end = reinterpret_cast<std::uintptr_t>(last);
  for (std::uintptr_t at = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page; at < end; at += page) {
    told::cycles(2000 + static_cast<double>(mix64((at - reinterpret_cast<std::uintptr_t>(memory)) / page) % 4096));
    told::write(reinterpret_cast<const void*>(at), 1);
    *reinterpret_cast<volatile char*>(at) = 0;
  }
}

// Some work without memory. Workers that are still being started when pages are first touched would leave their pages
// to others. So a tree of such moments comes first.
inline void busy_moment() {
  told::cycles(50'000);
  if (told::model() != nullptr) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  while (std::chrono::steady_clock::now() < end) continue;
}

// In setup, inside the runtime: under `serial` the calling worker is the first to touch all of it.
template <class T>
void settle(const placed_array<T>& memory, touch how) {
  if (how == touch::serial) told::write(memory.data(), memory.size() * sizeof(T));
}

}  // namespace heddle::bench
