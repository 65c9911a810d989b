/// Counting and binary semaphores.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

namespace detail {

class semaphore_core {
 public:
  constexpr explicit semaphore_core(std::ptrdiff_t permits) noexcept : word_(permits * permit) {}
  semaphore_core(const semaphore_core&) = delete;
  semaphore_core& operator=(const semaphore_core&) = delete;

  bool try_acquire() noexcept {
    std::int64_t word = word_.load(std::memory_order_relaxed);  // relaxed: verified by the exchange
    while (word >= permit) {
      // acquire pairs with release: what was done before the permit was given
      if (word_.compare_exchange_weak(word, word - permit, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  void acquire() noexcept {
    if (!try_acquire()) [[unlikely]]
      acquire_slow(nullptr);
  }
  bool acquire_by(deadline limit) noexcept { return acquire_slow(&limit); }
  void release(std::ptrdiff_t count) noexcept {
    std::int64_t word = word_.load(std::memory_order_relaxed);  // relaxed: verified by the exchange
    while ((word & has_waiters) == 0) {
      // release pairs with try_acquire: what was done before; the last access to *this
      if (word_.compare_exchange_weak(word, word + count * permit, std::memory_order_release,
                                      std::memory_order_relaxed))
        return;
    }
    release_slow(count);
  }

 private:
  struct request;
  static constexpr std::int64_t has_waiters = 1;
  static constexpr std::int64_t permit = 2;

  HEDDLE_API bool acquire_slow(const deadline* limit) noexcept;
  HEDDLE_API void release_slow(std::ptrdiff_t count) noexcept;
  static bool enqueue(void* request, waiter& w) noexcept;

  // The bit has_waiters means that waiters_ is not empty, and then there is no permit; it is changed under guard_. The
  // rest counts permits.
  std::atomic<std::int64_t> word_;
  spin_word guard_;
  waiter_list waiters_;  // under guard_
};

}  // namespace detail

/// Like std::counting_semaphore. Waiters are served in order of arrival. It may be destroyed as soon as no thread
/// waits, even while the thread whose permit was taken is still inside release(). Thread context: any. acquire() and
/// the forms with a time limit may suspend and migrate a user-level thread; try_acquire() and release() never do.
template <std::ptrdiff_t Max = std::numeric_limits<std::ptrdiff_t>::max() / 4>
class counting_semaphore {
  static_assert(Max >= 0 && Max <= std::numeric_limits<std::ptrdiff_t>::max() / 4);

 public:
  static constexpr std::ptrdiff_t max() noexcept { return Max; }

  /// Requires 0 <= permits <= max().
  constexpr explicit counting_semaphore(std::ptrdiff_t permits) noexcept : core_(permits) {}

  void acquire() noexcept { core_.acquire(); }
  bool try_acquire() noexcept { return core_.try_acquire(); }
  template <class Rep, class Period>
  bool try_acquire_for(const std::chrono::duration<Rep, Period>& duration) noexcept {
    return core_.try_acquire() || core_.acquire_by(detail::deadline_in(duration));
  }
  template <class Clock, class Duration>
  bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when) noexcept {
    return core_.try_acquire() || detail::until(when, [this](detail::deadline d) { return core_.acquire_by(d); });
  }
  /// The permits must not exceed max() afterwards. The call never suspends.
  void release(std::ptrdiff_t count = 1) noexcept { core_.release(count); }

 private:
  detail::semaphore_core core_;
};

using semaphore = counting_semaphore<>;
using binary_semaphore = counting_semaphore<1>;

}  // namespace heddle
