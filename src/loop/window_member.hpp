// A member of a loop with windows: positions that it has been handed out, and a pace at which it runs them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/loop_site.hpp>

namespace heddle::detail {

// The time for which a thread without work looks before it suspends: about the cost of suspending and resuming
// together.
inline constexpr std::uint64_t spin_nanoseconds = 1000;

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

// Positions that a member has been handed out and has not begun. The owner takes from the front, others from the back.
// The value of the word, which has two halves, is its whole state, so it does no harm if it had another value in
// between.
class open_range {
 public:
  // In a longer loop a position is several iterations.
  static constexpr std::size_t most_positions = 0xffffffff;

  // Called by the owner, when the range is empty.
  void put(std::uint64_t low, std::uint64_t high) noexcept { word_.store(low << 32 | high); }
  // Called before any other thread knows of the range.
  void put_first(std::uint64_t low, std::uint64_t high) noexcept {
    word_.store(low << 32 | high, std::memory_order_relaxed);
  }
  bool take_front(std::uint64_t most, std::uint64_t& low, std::uint64_t& high) noexcept {
    std::uint64_t word = word_.load();
    do {
      low = low_of(word);
      if (low == high_of(word)) return false;
      high = std::min(low + most, high_of(word));
    } while (!word_.compare_exchange_weak(word, high << 32 | high_of(word)));
    return true;
  }
  // Takes, for another thread, the upper half of the positions that were seen.
  bool take_back(std::uint64_t seen, std::uint64_t& low, std::uint64_t& high) noexcept {
    low = low_of(seen) + (high_of(seen) - low_of(seen)) / 2;
    high = high_of(seen);
    return take_from(seen, low);
  }
  // The same from position `low` on.
  bool take_from(std::uint64_t seen, std::uint64_t low) noexcept {
    return word_.compare_exchange_strong(seen, low_of(seen) << 32 | low);
  }
  std::uint64_t seen() const noexcept { return word_.load(); }
  static std::uint64_t low_of(std::uint64_t word) noexcept { return word >> 32; }
  static std::uint64_t high_of(std::uint64_t word) noexcept { return word & 0xffffffff; }

 private:
  std::atomic<std::uint64_t> word_{0};
};

struct alignas(64) window_member : open_range {};

}  // namespace heddle::detail
