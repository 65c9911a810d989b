// Points of time in POSIX's form.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>

namespace heddle::omp::waits {

using steady = std::chrono::steady_clock;

inline bool is_valid(const timespec& t) noexcept { return t.tv_nsec >= 0 && t.tv_nsec < 1'000'000'000; }

// Clocks that advance by themselves, and that all threads read alike.
inline bool is_wall_clock(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
}

// The time until which a thread that waits for `time` on such a clock may sleep before it looks at the clock again.
// Clocks other than CLOCK_MONOTONIC can be set, or advance while the machine is suspended. If `time` has come the
// result is in the past.
inline steady::time_point next_look(clockid_t clock, const timespec& time) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  const steady::time_point here = steady::now();
  if (time.tv_sec < now.tv_sec || (time.tv_sec == now.tv_sec && time.tv_nsec <= now.tv_nsec)) return here;
  const time_t seconds = time.tv_sec - now.tv_sec;
  const time_t most = clock == CLOCK_MONOTONIC ? 3600 : 1;
  if (seconds > most) return here + std::chrono::seconds(most);
  const auto left = std::chrono::seconds(seconds) + std::chrono::nanoseconds(time.tv_nsec - now.tv_nsec);
  return here + std::min<std::chrono::nanoseconds>(left, std::chrono::seconds(most));
}

inline bool has_come(clockid_t clock, const timespec& time) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec);
}

}  // namespace heddle::omp::waits
