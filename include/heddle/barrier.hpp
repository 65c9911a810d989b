/// Barriers that can be used again and again.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

namespace detail {

struct no_completion {
  void operator()() const noexcept {}
};

class barrier_core {
 public:
  using phase = std::uint32_t;
  static constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();

  constexpr explicit barrier_core(std::uint32_t expected) noexcept : word_(expected), expected_(expected) {}
  barrier_core(const barrier_core&) = delete;
  barrier_core& operator=(const barrier_core&) = delete;

  // Returns the phase that the caller arrived at. Sets `last` if this arrival was the last one of its phase: the caller
  // must then complete the phase.
  phase arrive(std::uint32_t count, bool& last) noexcept {
    const std::uint64_t before = word_.fetch_sub(count);
    last = static_cast<std::uint32_t>(before) == count;
    return static_cast<phase>(before >> 32);
  }
  bool is_over(phase p) const noexcept {
    // pairs with next_phase: what all threads did before they arrived
    return static_cast<phase>(word_.load(std::memory_order_acquire) >> 32) != p;
  }
  void wait(phase p) noexcept {
    if (!is_over(p)) wait_slow(p);
  }
  void drop() noexcept { expected_.fetch_sub(1); }
  HEDDLE_API void next_phase() noexcept;

 private:
  HEDDLE_API void wait_slow(phase p) noexcept;
  static bool enqueue(void* request, waiter& w) noexcept;

  // The layout is phase << 32 | arrivals still to come. An arrival subtracts; the last arrival of a phase stores the
  // next phase.
  std::atomic<std::uint64_t> word_;
  std::atomic<std::uint32_t> expected_;  // the number of threads expected in the phases to come
  spin_word guard_;
  waiter_list waiters_;  // under guard_; the waiters of the current phase
};

}  // namespace detail

/// Like std::barrier. The last thread that arrives calls the completion function, on its own stack, before any thread
/// goes on. The completion function must not throw. The barrier may be destroyed when every call has returned. Thread
/// context: any. wait() and arrive_and_wait() may suspend and migrate a user-level thread; the other functions do
/// neither by themselves.
template <class CompletionFunction = detail::no_completion>
class barrier {
  static_assert(std::is_nothrow_invocable_v<CompletionFunction&>,
                "the completion function of a barrier must be noexcept");

 public:
  class arrival_token {
   public:
    arrival_token(arrival_token&&) noexcept = default;
    arrival_token& operator=(arrival_token&&) noexcept = default;

   private:
    friend class barrier;
    explicit arrival_token(detail::barrier_core::phase p) noexcept : phase_(p) {}
    detail::barrier_core::phase phase_;
  };

  static constexpr std::ptrdiff_t max() noexcept { return detail::barrier_core::most; }

  /// Requires 0 <= expected <= max().
  constexpr explicit barrier(std::ptrdiff_t expected, CompletionFunction completion = CompletionFunction())
      : core_(static_cast<std::uint32_t>(expected)), completion_(std::move(completion)) {}

  /// `count` must be between 1 and the number of arrivals still expected in this phase.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) { return arrival_token(come(count)); }
  /// The token's phase must be the current phase or the one before it.
  void wait(arrival_token&& token) const { core_.wait(token.phase_); }
  void arrive_and_wait() { core_.wait(come(1)); }
  /// Arrives, and expects one arrival less in every later phase.
  void arrive_and_drop() {
    core_.drop();
    come(1);
  }

 private:
  detail::barrier_core::phase come(std::ptrdiff_t count) {
    bool last;
    const auto phase = core_.arrive(static_cast<std::uint32_t>(count), last);
    if (last) {
      completion_();
      core_.next_phase();
    }
    return phase;
  }

  mutable detail::barrier_core core_;
  [[no_unique_address]] CompletionFunction completion_;
};

}  // namespace heddle
