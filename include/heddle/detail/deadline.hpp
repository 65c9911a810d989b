// Time limits of any clock, turned into those of the clock that the runtime uses.
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

namespace heddle::detail {

using deadline = std::chrono::steady_clock::time_point;

// `duration` from now; the end of time when that cannot be represented.
template <class Rep, class Period>
deadline deadline_in(const std::chrono::duration<Rep, Period>& duration) noexcept {
  using clock = std::chrono::steady_clock;
  const deadline now = clock::now();
  if (duration <= duration.zero()) return now;
  // compared in floating point: the difference to the exact bound is nothing at 292 years
  const std::chrono::duration<double> wanted = duration, left = deadline::max() - now;
  if (wanted >= left) return deadline::max();
  return now + std::chrono::ceil<clock::duration>(duration);
}

// How long until `when`, in seconds: of any range, where the clock's own unit may not hold it. Exact to a microsecond.
template <class Clock, class Duration>
long double seconds_until(const std::chrono::time_point<Clock, Duration>& when) noexcept {
  using seconds = std::chrono::duration<long double>;
  return (seconds(when.time_since_epoch()) - seconds(Clock::now().time_since_epoch())).count();
}

// Of any clock, as that is set now; the end of time beyond a century, and a point that is over for any that is.
template <class Clock, class Duration>
deadline deadline_at(const std::chrono::time_point<Clock, Duration>& when) noexcept {
  constexpr bool is_ours = std::is_same_v<Clock, std::chrono::steady_clock>;
  if constexpr (is_ours && std::is_same_v<Duration, deadline::duration>) return when;
  constexpr long double century = 3.2e9L;
  const long double left = seconds_until(when);
  if (left > century) return deadline::max();
  if (left < -century) return deadline_in(deadline::duration::zero());
  if constexpr (is_ours) return deadline(std::chrono::ceil<deadline::duration>(when.time_since_epoch()));
  else return deadline_in(when - Clock::now());
}

template <class Clock, class Duration>
bool has_passed(const std::chrono::time_point<Clock, Duration>& when) noexcept {
  return seconds_until(when) <= 0;
}

// Calls wait(deadline) -> bool until it returns true, or `when` has passed on its own clock. That clock may be set
// while we wait, so its time is compared again after each wait.
template <class Clock, class Duration, class Wait>
bool until(const std::chrono::time_point<Clock, Duration>& when, Wait&& wait) {
  for (;;) {
    if (wait(deadline_at(when))) return true;
    if (std::is_same_v<Clock, std::chrono::steady_clock> || has_passed(when)) return false;
  }
}

}  // namespace heddle::detail
