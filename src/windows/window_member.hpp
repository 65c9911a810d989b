// A member of a loop with windows: its positions, and the pace at which it runs them.
#pragma once

#include <algorithm>
#include <cstdint>

#include <heddle/detail/loop_site.hpp>

#include "loop/open_range.hpp"

namespace heddle::detail {

// The number of positions that are run between two looks at what else is to be done: as many as take 2 us.
class window_pace {
 public:
  window_pace() noexcept : last_(loop_cycles()) {}
  std::uint64_t length() const noexcept { return length_; }
  void start() noexcept { last_ = loop_cycles(); }
  void passed(std::uint64_t count) noexcept {
    constexpr std::uint64_t target_nanoseconds = 2000, growth = 8, most = std::uint64_t{1} << 31;
    const std::uint64_t now = loop_cycles(), took = now - last_, target = loop_site::ticks_in(target_nanoseconds);
    last_ = now;
    if (took > target) length_ = std::max<std::uint64_t>(count * target / took, 1);
    else if (count == length_) length_ = std::min(count * std::min(target / (took + 1) + 1, growth), most);
  }

 private:
  std::uint64_t length_{1};
  std::uint64_t last_;
};

struct alignas(64) window_member : open_range {};

}  // namespace heddle::detail
