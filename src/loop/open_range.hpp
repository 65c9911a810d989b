// Positions that a member of a loop has been handed out and has not begun, from which others may take.
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

}  // namespace heddle::detail
