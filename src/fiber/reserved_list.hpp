// A growing array without malloc, because stacks are taken and given back while a preempted thread may hold malloc's
// locks.
#pragma once

#include <cstddef>
#include <type_traits>

#include "platform/platform.hpp"

namespace heddle::fiber {

// Address space for `most` elements is reserved at the first push; pages are committed as they are touched.
template <class T, std::size_t most = (std::size_t{1} << 20)>
class reserved_list {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  reserved_list() noexcept = default;
  ~reserved_list() {
    if (memory_ != nullptr) platform::release(memory_, bytes());
  }
  reserved_list(const reserved_list&) = delete;
  reserved_list& operator=(const reserved_list&) = delete;

  // Returns false if there is no memory or the list is full.
  [[nodiscard]] bool push_back(const T& value) noexcept {
    if (memory_ == nullptr) memory_ = static_cast<T*>(platform::reserve(bytes()));
    if (memory_ == nullptr || size_ == most) return false;
    memory_[size_++] = value;
    return true;
  }
  [[nodiscard]] T pop_back() noexcept { return memory_[--size_]; }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return memory_[i]; }
  const T* begin() const noexcept { return memory_; }
  const T* end() const noexcept { return memory_ + size_; }

 private:
  friend struct debug_layout;
  static constexpr std::size_t bytes() noexcept { return most * sizeof(T); }
  T* memory_{nullptr};
  std::size_t size_{0};
};

}  // namespace heddle::fiber
