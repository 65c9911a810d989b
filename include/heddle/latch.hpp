/// Latches: gates that open once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

/// Like std::latch. It may be destroyed as soon as every wait() has returned, even if the last count_down() has not.
/// Thread context: any. wait() and arrive_and_wait() may suspend and migrate a user-level thread; count_down() and
/// try_wait() never do.
class latch {
 public:
  static constexpr std::ptrdiff_t max() noexcept { return std::numeric_limits<std::ptrdiff_t>::max() / 4; }

  /// Requires 0 <= expected <= max().
  constexpr explicit latch(std::ptrdiff_t expected) noexcept : word_(expected * unit) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  /// The count must not fall below zero. If it does, the program ends with a message.
  void count_down(std::ptrdiff_t count = 1) noexcept {
    // acq_rel pairs with wait, try_wait and the other counts: what every thread did before. Without waiters this is the
    // last access to *this.
    const std::int64_t left = word_.fetch_sub(count * unit, std::memory_order_acq_rel) - count * unit;
    if (left < unit && left != 0) [[unlikely]]
      end_of_count(left);
  }
  /// Counts down, to zero at most. Returns false if `count` was more than was left; the latch is open then, too.
  [[nodiscard]] bool count_down_to_zero(std::ptrdiff_t count = 1) noexcept {
    std::int64_t before = word_.load(std::memory_order_relaxed), after;  // confirmed by the exchange
    bool enough;
    do {
      enough = count <= before / unit;
      after = enough ? before - count * unit : before % unit;
      // acq_rel as in count_down; relaxed: tried again
    } while (!word_.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (after == has_waiters && before != after) [[unlikely]]
      open();
    return enough;
  }
  bool try_wait() const noexcept {
    return word_.load(std::memory_order_acquire) < unit;  // pairs with count_down: what was done before
  }
  void wait() noexcept {
    if (!try_wait()) wait_slow();
  }
  void arrive_and_wait(std::ptrdiff_t count = 1) noexcept {
    count_down(count);
    wait();
  }

 private:
  static constexpr std::int64_t has_waiters = 1;
  static constexpr std::int64_t unit = 2;

  HEDDLE_API void wait_slow() noexcept;
  HEDDLE_API void open() noexcept;
  // Opens the latch if `left` is has_waiters alone. A smaller value is a count below zero.
  HEDDLE_API void end_of_count(std::int64_t left) noexcept;
  static bool enqueue(void* object, detail::waiter& w) noexcept;

  // The count, and the bit has_waiters, which is set under guard_ when a waiter is put on the list.
  std::atomic<std::int64_t> word_;
  detail::spin_word guard_;
  detail::waiter_list waiters_;  // under guard_
};

}  // namespace heddle
