/// Sleeping: waiting for a time to come.
#pragma once

#include <chrono>
#include <stop_token>

#include <heddle/detail/deadline.hpp>
#include <heddle/export.hpp>

namespace heddle {

namespace detail {
HEDDLE_API void sleep_until(deadline when) noexcept;
// Returns false if a stop was requested first.
HEDDLE_API bool sleep_until(deadline when, const std::stop_token& stop) noexcept;
}  // namespace detail

namespace this_thread {

/// Suspends the calling thread for at least `duration`; its worker runs other threads meanwhile. After that time it
/// goes on when a worker of the runtime picks its next thread and no other is ready before it. Thread context: any; may
/// migrate a user-level thread; a foreign kernel thread sleeps in the kernel.
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& duration) noexcept {
  if (duration > duration.zero()) detail::sleep_until(detail::deadline_in(duration));
}

/// Does the same until `when` has passed on its own clock.
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& when) noexcept {
  detail::until(when, [](detail::deadline d) {
    detail::sleep_until(d);
    return false;
  });
}

/// These end early when a stop is requested. They return true if the time has passed, and false if a stop was requested
/// first or before the call. Thread context: any.
template <class Rep, class Period>
bool sleep_for(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& stop) noexcept {
  if (stop.stop_requested()) return false;
  return duration <= duration.zero() || detail::sleep_until(detail::deadline_in(duration), stop);
}
template <class Clock, class Duration>
bool sleep_until(const std::chrono::time_point<Clock, Duration>& when, const std::stop_token& stop) noexcept {
  detail::until(when, [&](detail::deadline d) { return !detail::sleep_until(d, stop); });
  return !stop.stop_requested();
}

}  // namespace this_thread
}  // namespace heddle
