// The work that an out-of-order core does at once, as far as a strand's declared costs show it: arithmetic while lines
// are on their way, and lines of accesses that continue others.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace heddle::sim {

using picoseconds = std::uint64_t;  // 213 days in all; integers, so that sums do not depend on their order

// Arithmetic and accesses told between two operations of the scheduler are one loop, in which each line has its part of
// the arithmetic. The core then computes while lines come. But while it waits for a line it can only do as much as its
// reorder buffer holds, the *window*: that much can hide behind each line.
class told_overlap {
 public:
  // For arithmetic that takes `cost`: returns how much of it was done while lines came that were told before.
  picoseconds hide_arithmetic(picoseconds cost) noexcept {
    const picoseconds hidden = std::min(cost, waits_);
    waits_ -= hidden;
    computes_ += cost - hidden;
    return hidden;
  }
  // For lines that take `cost`, with windows of `window` together: returns how much of it passed during arithmetic told
  // before.
  picoseconds hide_lines(picoseconds cost, picoseconds window) noexcept {
    const picoseconds open = std::min(cost, window), hidden = std::min(open, computes_);
    computes_ -= hidden;
    waits_ += open - hidden;
    return hidden;
  }
  void end() noexcept { waits_ = computes_ = 0; }

 private:
  picoseconds waits_{0};     // waits for lines during which arithmetic can still be done
  picoseconds computes_{0};  // arithmetic during which lines can still come
};

enum class continued : std::uint8_t { no, next_line, same_line };

// The places where the last accesses ended. An access that begins in the same line or the next, or ends in the line
// before, continues a stream. So elements of an array that are told one by one are read like the array told in one
// call. There are eight streams, half of the number that the prefetchers of a core follow (16 and more; Intel's
// optimization manual, 2.1.5.4 of 2016).
class told_streams {
 public:
  continued go_on(std::uint64_t first, std::uint64_t last) noexcept {
    for (std::uint64_t& end : ends_) {
      if (end == first) {
        end = last;
        return continued::same_line;
      }
      if (end + 1 != first && last + 1 != end) continue;
      end = last < end ? first : last;
      return continued::next_line;
    }
    ends_[next_] = last;
    next_ = (next_ + 1) % ends_.size();
    return continued::no;
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0} - 1;
  std::array<std::uint64_t, 8> ends_{none, none, none, none, none, none, none, none};  // lines
  std::size_t next_{0};
};

}  // namespace heddle::sim
