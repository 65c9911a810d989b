/// Waiting for file descriptors: sockets, pipes, terminals, event and timer descriptors.
#pragma once

#include <chrono>
#include <stop_token>

#include <heddle/detail/deadline.hpp>
#include <heddle/export.hpp>

namespace heddle {

namespace detail {
enum class direction : bool { read, write };
// `limit` and `stop` may be null.
HEDDLE_API bool wait_ready(int descriptor, direction which, const deadline* limit, const std::stop_token* stop);

inline bool wait_ready_until(int descriptor, direction which, deadline limit, const std::stop_token& stop) {
  return wait_ready(descriptor, which, &limit, stop.stop_possible() ? &stop : nullptr);
}
}  // namespace detail

/// Suspends the caller until a read (a write) of the descriptor would not block: there is data (room), its end was
/// reached, or it has an error, which the next read() (write()) then reports. It is meant for descriptors with
/// O_NONBLOCK: call read() first, and wait when it says EAGAIN. Another thread may be faster, so the next call may say
/// EAGAIN again. A regular file is always ready, so this returns at once for it.
///
/// Any number of threads may wait for one descriptor, and for both directions at once. All threads that wait for a
/// direction go on when it is ready. A descriptor must not be closed while a thread waits for it: call shutdown() or
/// request a stop, and close it afterwards. Throws std::system_error for a number that is no open descriptor, and if
/// the system has no memory left for watching it. Thread context: any; a user-level thread suspends and may migrate,
/// and a foreign kernel thread sleeps.
///
/// One kernel thread (epoll) watches all waits of a process; it sleeps while nothing happens. On a simulated machine
/// descriptors are looked at every 20 microseconds of virtual time.
inline void wait_readable(int descriptor) {
  (void)detail::wait_ready(descriptor, detail::direction::read, nullptr, nullptr);
}
inline void wait_writable(int descriptor) {
  (void)detail::wait_ready(descriptor, detail::direction::write, nullptr, nullptr);
}

/// Does the same, and returns false if a stop was requested first.
[[nodiscard]] inline bool wait_readable(int descriptor, const std::stop_token& stop) {
  return detail::wait_ready(descriptor, detail::direction::read, nullptr, &stop);
}
[[nodiscard]] inline bool wait_writable(int descriptor, const std::stop_token& stop) {
  return detail::wait_ready(descriptor, detail::direction::write, nullptr, &stop);
}

/// Does the same with a time limit, and with a stop token if one is given. Returns false if the time has passed or a
/// stop was requested first.
template <class Clock, class Duration>
[[nodiscard]] bool wait_readable_until(int descriptor, const std::chrono::time_point<Clock, Duration>& when,
                                       const std::stop_token& stop = {}) {
  return detail::until(when,
                       [&](detail::deadline d) {
                         return detail::wait_ready_until(descriptor, detail::direction::read, d, stop) ||
                                stop.stop_requested();
                       }) &&
         !stop.stop_requested();
}
template <class Clock, class Duration>
[[nodiscard]] bool wait_writable_until(int descriptor, const std::chrono::time_point<Clock, Duration>& when,
                                       const std::stop_token& stop = {}) {
  return detail::until(when,
                       [&](detail::deadline d) {
                         return detail::wait_ready_until(descriptor, detail::direction::write, d, stop) ||
                                stop.stop_requested();
                       }) &&
         !stop.stop_requested();
}
template <class Rep, class Period>
[[nodiscard]] bool wait_readable_for(int descriptor, const std::chrono::duration<Rep, Period>& duration,
                                     const std::stop_token& stop = {}) {
  return detail::wait_ready_until(descriptor, detail::direction::read, detail::deadline_in(duration), stop);
}
template <class Rep, class Period>
[[nodiscard]] bool wait_writable_for(int descriptor, const std::chrono::duration<Rep, Period>& duration,
                                     const std::stop_token& stop = {}) {
  return detail::wait_ready_until(descriptor, detail::direction::write, detail::deadline_in(duration), stop);
}

}  // namespace heddle
