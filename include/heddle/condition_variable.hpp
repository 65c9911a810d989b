/// Condition variables: waiting for a condition on data that a mutex protects.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <utility>

#include <heddle/detail/deadline.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/export.hpp>
#include <heddle/mutex.hpp>

namespace heddle {

using std::cv_status;

/// Like std::condition_variable, with heddle::mutex, and with the std::stop_token forms of std::condition_variable_any.
/// The current implementation has no spurious wake-ups, but users must not rely on that. Waiters are notified in order
/// of arrival. The object may be destroyed once all waiters have been notified, even if they have not returned yet.
/// Thread context: any. A wait suspends, and may migrate, a user-level thread; a notification never does. The functions
/// throw only what a predicate throws.
class condition_variable {
 public:
  condition_variable() noexcept = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;
  ~condition_variable() {
    if (leaving_.load() != 0) await_leaving();
  }

  void notify_one() noexcept {
    if (waiting_.load() != 0) wake_some(1);
  }
  void notify_all() noexcept {
    if (waiting_.load() != 0) wake_some(~std::uint32_t{0});
  }

  /// In every form the caller must hold `lock`, and it holds it again on return.
  void wait(std::unique_lock<mutex>& lock) noexcept { wait_slow(*lock.mutex(), nullptr); }
  template <class Predicate>
  void wait(std::unique_lock<mutex>& lock, Predicate ready) {
    while (!ready()) wait(lock);
  }

  template <class Clock, class Duration>
  cv_status wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& when) {
    bool notified = detail::until(when, [&](detail::deadline d) { return wait_slow(*lock.mutex(), &d); });
    return notified ? cv_status::no_timeout : cv_status::timeout;
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& when,
                  Predicate ready) {
    while (!ready()) {
      if (wait_until(lock, when) == cv_status::timeout) return ready();
    }
    return true;
  }
  template <class Rep, class Period>
  cv_status wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& duration) {
    return wait_until(lock, detail::deadline_in(duration));
  }
  template <class Rep, class Period, class Predicate>
  bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& duration, Predicate ready) {
    return wait_until(lock, detail::deadline_in(duration), std::move(ready));
  }

  /// These forms also end when a stop is requested. They return what ready() says, so false means that the stop or the
  /// time limit ended the wait.
  template <class Predicate>
  bool wait(std::unique_lock<mutex>& lock, std::stop_token stop, Predicate ready) {
    while (!ready()) {
      if (stop.stop_requested()) return false;
      wait_stoppable(*lock.mutex(), stop, nullptr);
    }
    return true;
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(std::unique_lock<mutex>& lock, std::stop_token stop,
                  const std::chrono::time_point<Clock, Duration>& when, Predicate ready) {
    while (!ready()) {
      if (stop.stop_requested()) return false;
      if (!detail::until(when, [&](detail::deadline d) { return wait_stoppable(*lock.mutex(), stop, &d); }))
        return ready();
    }
    return true;
  }
  template <class Rep, class Period, class Predicate>
  bool wait_for(std::unique_lock<mutex>& lock, std::stop_token stop, const std::chrono::duration<Rep, Period>& duration,
                Predicate ready) {
    return wait_until(lock, std::move(stop), detail::deadline_in(duration), std::move(ready));
  }

 private:
  struct request;
  // Returns false if the time limit passed.
  HEDDLE_API bool wait_slow(mutex& m, const detail::deadline* limit) noexcept;
  HEDDLE_API bool wait_stoppable(mutex& m, const std::stop_token& stop, const detail::deadline* limit) noexcept;
  HEDDLE_API void wake_some(std::uint32_t most) noexcept;
  HEDDLE_API void await_leaving() const noexcept;
  bool wait_with(request& r, const detail::deadline* limit) noexcept;
  static bool enqueue(void* request, detail::waiter& w) noexcept;
  void take_out(detail::waiter& w) noexcept;

  detail::spin_word guard_;
  detail::waiter_list waiters_;            // under guard_
  std::atomic<std::uint32_t> waiting_{0};  // length of waiters_; written under guard_
  std::atomic<std::uint32_t> leaving_{0};  // the number of waits that may still touch this object after they were
                                           // notified
};

}  // namespace heddle
