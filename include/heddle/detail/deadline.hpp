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

// Calls wait(deadline) -> bool until it returns true, or `when` has passed on its own clock. That clock may be set
// while we wait, so its time is compared again after each wait.
template <class Clock, class Duration, class Wait>
bool until(const std::chrono::time_point<Clock, Duration>& when, Wait&& wait) {
  if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>) {
    return wait(deadline(std::chrono::ceil<deadline::duration>(when.time_since_epoch())));
  } else {
    for (;;) {
      if (wait(deadline_in(when - Clock::now()))) return true;
      if (Clock::now() >= when) return false;
    }
  }
}

}  // namespace heddle::detail
