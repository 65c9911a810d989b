/// Sleeping: waiting for a time to come.
#pragma once

#include <chrono>

#include <heddle/detail/deadline.hpp>
#include <heddle/export.hpp>

namespace heddle {

namespace detail {
HEDDLE_API void sleep_until(deadline when) noexcept;
}

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

}  // namespace this_thread
}  // namespace heddle
