/// Mutexes: mutual exclusion between threads of any kind.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/inheriting_lock.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>

namespace heddle {

/// Like std::timed_mutex. A user-level thread that waits for the mutex is suspended, and its worker goes on with other
/// threads. A thread may lock it on one worker and unlock it on another. It is not recursive: locking it twice never
/// returns.
///
/// The thread that tries first gets the mutex, whether it has waited or not. As an exception, a waiter that was woken
/// four times in vain is handed the lock (src/wait/mutex.md). While threads have priorities, a user-level thread that
/// holds the mutex has at least the level of the threads that wait for it (docs/guide/preemption.md). The mutex may be
/// destroyed as soon as no thread holds it or waits for it, even while the thread that held it last is still inside
/// unlock(). Thread context: any. Every operation that waits may suspend and migrate a user-level thread; unlock() and
/// try_lock() never do.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept {
    if (!state_.word.take_free(detail::current_holder())) [[unlikely]]
      lock_slow(nullptr);
    state_.note_holder();
  }
  bool try_lock() noexcept {
    detail::lock_word::state seen = state_.word.glance();
    while (!seen.is_locked()) {
      if (!state_.word.take(seen, detail::current_holder())) continue;
      state_.note_holder();
      if (seen.has_waiters()) [[unlikely]]
        inherit();
      return true;
    }
    return false;
  }
  void unlock() noexcept {
    if (!state_.word.release_alone(detail::current_holder())) [[unlikely]]
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
  HEDDLE_API bool lock_slow(const detail::deadline* limit) noexcept;
  HEDDLE_API void unlock_slow() noexcept;
  HEDDLE_API void inherit() noexcept;
  detail::waiter* next_waiter() noexcept;
  bool lock_by(detail::deadline limit) noexcept {
    if (!lock_slow(&limit)) return false;
    state_.note_holder();
    return true;
  }
  static bool enqueue(void* request, detail::waiter& w) noexcept;

  detail::inheriting_lock state_;  // the bit has_waiters means that waiters_ is not empty
  detail::spin_word guard_;
  // The number of waiters chosen while levels are used; under guard_.
  std::uint8_t chosen_{0};
  detail::waiter_list waiters_;  // under guard_
};

}  // namespace heddle
