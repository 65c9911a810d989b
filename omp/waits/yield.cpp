// Giving the processor away, and sleeping.
#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <heddle/sleep.hpp>

#include "omp/waits/deadline.hpp"
#include "omp/waits/giving_way.hpp"
#include "omp/waits/member.hpp"
#include "omp/waits/real.hpp"

namespace heddle::omp::waits {

namespace {

// For a member: sleeps at least that long.
void sleep_for(time_t seconds, long nanoseconds) noexcept {
  if (seconds == 0 && nanoseconds == 0) return give_way();
  const resting now;
  steady::time_point here = steady::now();
  const time_t hours = std::min<time_t>(seconds / 3600, 24 * 365 * 100);  // longer than any machine runs
  const steady::time_point end =
      here + std::chrono::hours(hours) + std::chrono::seconds(seconds % 3600) + std::chrono::nanoseconds(nanoseconds);
  for (; here < end; here = steady::now()) heddle::this_thread::sleep_until(end);
}

void sleep_until(clockid_t clock, const timespec& time) noexcept {
  const resting now;
  while (!has_come(clock, time)) heddle::this_thread::sleep_until(next_look(clock, time));
}

bool is_good(const timespec* t) noexcept { return t != nullptr && t->tv_sec >= 0 && is_valid(*t); }

}  // namespace

}  // namespace heddle::omp::waits

using namespace heddle::omp::waits;

HEDDLE_OMP_ENTRY int sched_yield() noexcept {
  if (!is_member()) return real::sched_yield();
  give_way();
  return 0;
}

HEDDLE_OMP_ENTRY void thrd_yield() {
  if (is_member()) give_way();
  else real::thrd_yield();
}

// The system itself reports what is wrong with a time. No signal ends a member's sleep, because signals are sent to
// kernel threads.
HEDDLE_OMP_ENTRY int nanosleep(const timespec* time, timespec* left) {
  if (!is_member() || !is_good(time)) return real::nanosleep(time, left);
  sleep_for(time->tv_sec, time->tv_nsec);
  return 0;
}

HEDDLE_OMP_ENTRY int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (!is_member() || !is_good(time)) return real::clock_nanosleep(clock, flags, time, left);
  if (!is_wall_clock(clock)) return in_kernel([=] { return real::clock_nanosleep(clock, flags, time, left); });
  if ((flags & TIMER_ABSTIME) != 0) sleep_until(clock, *time);
  else sleep_for(time->tv_sec, time->tv_nsec);
  return 0;
}

HEDDLE_OMP_ENTRY int usleep(useconds_t microseconds) {
  if (!is_member()) return real::usleep(microseconds);
  sleep_for(microseconds / 1'000'000, static_cast<long>(microseconds % 1'000'000) * 1000);
  return 0;
}

HEDDLE_OMP_ENTRY unsigned sleep(unsigned seconds) {
  if (!is_member()) return real::sleep(seconds);
  sleep_for(seconds, 0);
  return 0;
}

HEDDLE_OMP_ENTRY int thrd_sleep(const timespec* time, timespec* left) {
  if (!is_member() || !is_good(time)) return real::thrd_sleep(time, left);
  sleep_for(time->tv_sec, time->tv_nsec);
  return 0;
}
