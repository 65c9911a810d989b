/// Barriers that a participant can cancel.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

/// A barrier whose phase ends in one of two ways: all participants have arrived, or a participant has cancelled the
/// barrier. All participants of a phase get the same answer. After a cancellation no thread waits until reset() is
/// called. OpenMP's `cancel parallel` needs such a barrier, and so does any team that may fail in the middle of a
/// phase. The barrier may be destroyed when every call has returned. Thread context: any. arrive_and_wait() may suspend
/// and migrate a user-level thread; the other functions never do.
class cancellable_barrier {
 public:
  static constexpr std::ptrdiff_t max() noexcept { return std::numeric_limits<std::uint32_t>::max(); }

  /// Requires 1 <= expected <= max().
  explicit cancellable_barrier(std::ptrdiff_t expected) noexcept
      : word_(static_cast<std::uint32_t>(expected)), expected_(static_cast<std::uint32_t>(expected)) {}
  cancellable_barrier(const cancellable_barrier&) = delete;
  cancellable_barrier& operator=(const cancellable_barrier&) = delete;

  /// Returns true when all participants have arrived and the next phase has begun. Returns false if the barrier is
  /// cancelled.
  [[nodiscard]] bool arrive_and_wait() noexcept {
    // does not arrive, so that a thread that comes again and again cannot count below zero
    if (is_cancelled()) return false;
    const std::uint64_t before = word_.fetch_sub(1);
    if ((before & cancelled) != 0) [[unlikely]]
      return false;
    if (to_come(before) == 1) return next_phase(before - 1);
    return wait(before & ~(cancelled | arrivals));
  }
  /// Ends the current phase and every later one, for all threads that wait or will arrive. If the last participant has
  /// already arrived, its phase still counts as complete.
  HEDDLE_API void cancel() noexcept;
  bool is_cancelled() const noexcept { return (word_.load() & cancelled) != 0; }
  /// Makes the barrier as good as new, for `expected` participants. No thread may be inside a call meanwhile.
  void reset(std::ptrdiff_t expected) noexcept {
    expected_ = static_cast<std::uint32_t>(expected);
    word_.store(expected_);
  }

 private:
  // The layout is phase << 33 | cancelled | arrivals still to come.
  static constexpr std::uint64_t arrivals = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t cancelled = std::uint64_t{1} << 32;
  static constexpr std::uint64_t one_phase = std::uint64_t{1} << 33;
  static std::uint32_t to_come(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word); }
  static std::uint64_t phase_of(std::uint64_t word) noexcept { return word & ~(cancelled | arrivals); }

  struct request;
  HEDDLE_API bool next_phase(std::uint64_t seen) noexcept;
  HEDDLE_API bool wait(std::uint64_t phase) noexcept;
  static bool enqueue(void* request, detail::waiter& w) noexcept;

  std::atomic<std::uint64_t> word_;
  std::uint32_t expected_;
  detail::spin_word guard_;
  detail::waiter_list waiters_;  // under guard_; the waiters of the current phase
};

}  // namespace heddle
