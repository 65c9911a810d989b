// How long a window is to be, where the program leaves that to heddle: schedule::window_automatic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <heddle/detail/loop_windows.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// What is remembered of the loops of one call site. All fields are hints, which any worker may write.
class window_choice {
 public:
  // Of a loop of n iterations, each of which touches `bytes` of memory; 0: not known. 0: no window. On a worker.
  HEDDLE_API std::size_t choose(std::size_t n, std::size_t bytes, const std::vector<loop_cache>& caches) noexcept;
};

// One object for each type of body, as loop_site_of.
template <class Work>
inline constinit window_choice loop_window_of{};

}  // namespace heddle::detail
