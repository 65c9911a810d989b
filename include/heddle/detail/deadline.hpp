// Conversion of time limits of any clock to the clock that the runtime uses.
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

namespace heddle::detail {

using deadline = std::chrono::steady_clock::time_point;

// Returns the time `duration` from now, or the largest time if that cannot be represented.
template <class Rep, class Period>
deadline deadline_in(const std::chrono::duration<Rep, Period>& duration) noexcept {
  using clock = std::chrono::steady_clock;
  const deadline now = clock::now();
  if (duration <= duration.zero()) return now;
  // compared in floating point: the error does not matter at a bound that is 292 years away
  const std::chrono::duration<double> wanted = duration, left = deadline::max() - now;
  if (wanted >= left) return deadline::max();
  return now + std::chrono::ceil<clock::duration>(duration);
}

// Returns the seconds until `when`, exact to a microsecond. The result may have any range, because the clock's own unit
// may not be able to hold it.
template <class Clock, class Duration>
long double seconds_until(const std::chrono::time_point<Clock, Duration>& when) noexcept {
  using seconds = std::chrono::duration<long double>;
  return (seconds(when.time_since_epoch()) - seconds(Clock::now().time_since_epoch())).count();
}

// Returns the time `when` of any clock, as that clock is set at the call. A time more than a century ahead becomes the
// largest time; a time more than a century ago becomes a time that has passed.
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

// Calls wait(deadline) -> bool until it returns true or `when` has passed on its own clock. That clock may be set
// during the wait, so its time is compared again after each wait.
template <class Clock, class Duration, class Wait>
bool until(const std::chrono::time_point<Clock, Duration>& when, Wait&& wait) {
  for (;;) {
    if (wait(deadline_at(when))) return true;
    if (std::is_same_v<Clock, std::chrono::steady_clock> || has_passed(when)) return false;
  }
}

}  // namespace heddle::detail
