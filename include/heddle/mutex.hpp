/// Mutual exclusion between threads of any kind.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/lendable.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

class mutex;
namespace detail {
// An address on the stack of the thread that holds `object`; 0: none does, or the memory is gone. A hint, for dumps.
std::uintptr_t holder_of(const mutex* object) noexcept;
}  // namespace detail

/// Like std::timed_mutex; a user-level thread that waits for it is suspended, its
/// worker goes on with other threads. It may be locked on one worker and unlocked
/// on another, by the same thread. Not recursive: locking it twice never returns.
///
/// Whoever tries first gets it, whether it waited or not, except that a waiter that was woken four times in vain is
/// handed the lock (src/wait/mutex.md). While threads have priorities, a user-level thread that holds it has at least
/// the level of whoever waits for it (docs/guide/preemption.md). May be destroyed as soon as no thread holds it or
/// waits for it, even while the thread that held it last is still inside unlock(). Thread context: any; every operation
/// that waits may suspend and migrate a user-level thread, unlock() and try_lock() never do.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept {
    std::uintptr_t free = 0;
    // acquire pairs with unlock: what the last holder wrote. release pairs with worker::lend, which finds the holder's
    // control block by the word. A failure is looked at again in lock_slow.
    if (!state_.word.compare_exchange_strong(free, detail::current_holder() | state::locked, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) [[unlikely]]
      lock_slow(nullptr);
    note_holder();
  }
  bool try_lock() noexcept {
    std::uintptr_t word = state_.word.load(std::memory_order_relaxed);  // verified by the exchange
    while ((word & state::locked) == 0) {
      // as in lock
      if (!state_.word.compare_exchange_weak(word, word | detail::current_holder() | state::locked,
                                             std::memory_order_acq_rel, std::memory_order_relaxed))
        continue;
      note_holder();
      if ((word & state::has_waiters) != 0) [[unlikely]]
        inherit();
      return true;
    }
    return false;
  }
  void unlock() noexcept {
    std::uintptr_t alone = detail::current_holder() | state::locked;
    // release pairs with lock, try_lock and lock_slow: what the holder wrote
    if (!state_.word.compare_exchange_strong(alone, 0, std::memory_order_release, std::memory_order_relaxed))
        [[unlikely]]
      unlock_slow();
  }

  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) noexcept {
    return try_lock() || lock_by(detail::deadline_in(duration));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) noexcept {
    return try_lock() || detail::until(when, [this](detail::deadline d) { return lock_by(d); });
  }

 private:
  using state = detail::lendable;

  HEDDLE_API bool lock_slow(const detail::deadline* limit) noexcept;
  HEDDLE_API void unlock_slow() noexcept;
  HEDDLE_API void inherit() noexcept;
  detail::waiter* next_waiter() noexcept;
  bool lock_by(detail::deadline limit) noexcept {
    if (!lock_slow(&limit)) return false;
    note_holder();
    return true;
  }
  // A stack pointer is at hand where a thread's identity would have to be looked up, and tells as much.
  void note_holder() noexcept {
    char here;
    holder_.store(reinterpret_cast<std::uintptr_t>(&here), std::memory_order_relaxed);  // read by dumps only, as a hint
  }
  friend std::uintptr_t detail::holder_of(const mutex* object) noexcept;
  static bool enqueue(void* request, detail::waiter& w) noexcept;

  state state_;  // has_waiters: waiters_ is not empty
  detail::spin_word guard_;
  std::uint8_t chosen_{0};       // how many waiters were chosen while levels are used; under guard_
  detail::waiter_list waiters_;  // under guard_
  // An address on the stack of the thread that took it last. While `locked` is set that is the holder, but for the
  // moment between the exchange of the word and this store.
  std::atomic<std::uintptr_t> holder_{0};
};

}  // namespace heddle
