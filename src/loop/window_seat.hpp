// What a seat of a loop with windows has: positions that it has been handed out, and a pace at which it runs them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/loop_site.hpp>

namespace heddle::detail {

// Who has nothing to do looks for so long before it suspends: about what suspending and resuming cost together.
inline constexpr std::uint64_t spin_nanoseconds = 1000;

// How many positions are run between two looks at what else is to be done: such as take 2 us.
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

// Positions that somebody has been handed out and has not begun: it takes from the front, others from the back. A
// word of two halves, whose value is all there is to know: that it was another one in between does no harm.
class open_range {
 public:
  // A longer loop is counted in several iterations a position.
  static constexpr std::size_t most_positions = 0xffffffff;

  // Its own: what it had is empty.
  void put(std::uint64_t low, std::uint64_t high) noexcept { word_.store(low << 32 | high); }
  // Before anybody else knows of it.
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
  // Somebody else takes the upper half of what it was seen to have.
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

struct alignas(64) window_seat : open_range {};

}  // namespace heddle::detail
