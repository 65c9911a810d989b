/// Meeting points that a participant can call off.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

/// A barrier whose phase ends in one of two ways: all have arrived, or somebody has cancelled it. All participants of a
/// phase get the same answer. Once it is cancelled it stays so, and nobody waits, until reset(). What OpenMP's
/// `cancel parallel` and any team that may fail in the middle of a phase need. May be destroyed when every call has
/// returned. Thread context: any; arrive_and_wait() may suspend and migrate a user-level thread, the others never do.
class cancellable_barrier {
 public:
  static constexpr std::ptrdiff_t max() noexcept { return std::numeric_limits<std::uint32_t>::max(); }

  /// 1 <= expected <= max().
  explicit cancellable_barrier(std::ptrdiff_t expected) noexcept
      : word_(static_cast<std::uint32_t>(expected)), expected_(static_cast<std::uint32_t>(expected)) {}
  cancellable_barrier(const cancellable_barrier&) = delete;
  cancellable_barrier& operator=(const cancellable_barrier&) = delete;

  /// True: all have arrived, and the next phase has begun. False: the barrier is cancelled.
  [[nodiscard]] bool arrive_and_wait() noexcept {
    if (is_cancelled()) return false;  // without arriving: who comes again and again does not count below zero
    const std::uint64_t before = word_.fetch_sub(1);
    if ((before & cancelled) != 0) [[unlikely]]
      return false;
    if (to_come(before) == 1) return next_phase(before - 1);
    return wait(before & ~(cancelled | arrivals));
  }
  /// Ends the present phase, and every one to come, for all who wait or will arrive; unless the last one has arrived
  /// before, whose phase counts.
  HEDDLE_API void cancel() noexcept;
  bool is_cancelled() const noexcept { return (word_.load() & cancelled) != 0; }
  /// As new, for `expected` participants. Nobody may be inside a call meanwhile.
  void reset(std::ptrdiff_t expected) noexcept {
    expected_ = static_cast<std::uint32_t>(expected);
    word_.store(expected_);
  }

 private:
  // phase << 33 | cancelled | still to come
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
  detail::waiter_list waiters_;  // under guard_; all of the current phase
};

}  // namespace heddle
