#include "omp/waits/mutex.hpp"

#include <threads.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include <heddle/pause.hpp>

#include "omp/waits/address_waits.hpp"
#include "omp/waits/deadline.hpp"
#include "omp/waits/member.hpp"
#include "omp/waits/real.hpp"

namespace heddle::omp::waits {

namespace {

constexpr int spins = 32;
// The time that a member which no thread has called sleeps before it looks itself, at first and at most ([waits:4]).
constexpr std::chrono::nanoseconds first_look = std::chrono::microseconds(50);
constexpr std::chrono::nanoseconds last_look = std::chrono::milliseconds(2);

// The bits of pthread_mutex_t's kind, which its initialisers have written into programs since glibc 2.4.
struct mutex_kind {
  static constexpr int type_mask = 3, robust = 16, inherit = 32, protect = 64, shared = 128;
  explicit mutex_kind(const pthread_mutex_t& m) noexcept : bits(m.__data.__kind) {}
  bool checks_errors() const noexcept { return (bits & type_mask) == PTHREAD_MUTEX_ERRORCHECK_NP; }
  bool has(int bit) const noexcept { return (bits & bit) != 0; }
  int bits;
};

void say_once_that_priorities_stay() noexcept {
  static constinit std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  std::fputs("heddle: OpenMP: a mutex with priority inheritance is locked by threads of teams, whose priorities stay\n",
             stderr);
}

// Tries once, without waiting. Returns EBUSY if another thread has the mutex.
int attempt(pthread_mutex_t* mutex, mutex_kind kind) {
  // For a plain mutex that checks errors, trying says EBUSY to the owner, too; with a limit in the past the owner is
  // told that it would wait for itself. For the other kinds such a limit would make the C library ask the kernel for an
  // owner that the kernel does not know.
  if (!kind.checks_errors() || kind.has(mutex_kind::robust | mutex_kind::inherit | mutex_kind::protect))
    return real::pthread_mutex_trylock(mutex);
  constexpr timespec past{};
  const int result = real::pthread_mutex_timedlock(mutex, &past);
  return result == ETIMEDOUT ? EBUSY : result;
}

int lock_in_kernel(pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) {
  return in_kernel([=] {
    return limit == nullptr ? real::pthread_mutex_lock(mutex) : real::pthread_mutex_clocklock(mutex, clock, limit);
  });
}

}  // namespace

bool is_shared(const pthread_mutex_t& mutex) noexcept { return mutex_kind(mutex).has(mutex_kind::shared); }

int lock(pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) {
  if (limit != nullptr && clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
  const mutex_kind kind(*mutex);
  int result = attempt(mutex, kind);
  if (result != EBUSY) return result;
  if (limit != nullptr && !is_valid(*limit)) return EINVAL;
  // Only threads that wait in the kernel are told of the end of a robust mutex's owner, and of what another process
  // does.
  if (kind.has(mutex_kind::shared | mutex_kind::robust)) return lock_in_kernel(mutex, clock, limit);
  if (kind.has(mutex_kind::inherit)) say_once_that_priorities_stay();
  for (int turn = 0; turn < spins && !heddle_omp_is_crowded(); ++turn) {
    heddle_pause();
    if (turn % 8 == 7 && (result = attempt(mutex, kind)) != EBUSY) return result;
  }
  std::chrono::nanoseconds look = first_look;
  for (bool has_waited = false;; has_waited = true) {
    address_waits::one wait(at_mutexes, mutex, has_waited);
    // [waits:2]: after this look an unlock finds the waiter.
    if (result = attempt(mutex, kind); result != EBUSY) return result;
    if (limit != nullptr && has_come(clock, *limit)) {
      if (!wait.leave()) at_mutexes.call_one(mutex);  // another waiter must be called
      return ETIMEDOUT;
    }
    steady::time_point until = steady::now() + look;
    if (limit != nullptr) until = std::min(until, next_look(clock, *limit));
    look = wait.sleep_until(until) ? first_look : std::min(2 * look, last_look);
    if (result = attempt(mutex, kind); result != EBUSY) return result;
  }
}

int unlock(pthread_mutex_t* mutex) {
  const int result = real::pthread_mutex_unlock(mutex);
#if !defined(__x86_64__)
  std::atomic_thread_fence(std::memory_order_seq_cst);  // [waits:2]; on x86-64 the unlock is a locked instruction
#endif
  // Uses only its address, because the mutex may be gone.
  at_mutexes.call_one(mutex);
  return result;
}

}  // namespace heddle::omp::waits

using namespace heddle::omp::waits;

namespace {

int to_c11(int error) noexcept {
  switch (error) {
    case 0: return thrd_success;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
    case EBUSY: return thrd_busy;
    default: return thrd_error;
  }
}

// A member that tries in a loop keeps its worker from the threads for which it waits.
int let_others_run_if_busy(int result, int busy) noexcept {
  if (result == busy) heddle::detail::yield();
  return result;
}

pthread_mutex_t* as_pthread(mtx_t* mutex) noexcept { return reinterpret_cast<pthread_mutex_t*>(mutex); }

}  // namespace

HEDDLE_OMP_ENTRY int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return is_member() ? lock(mutex, CLOCK_REALTIME, nullptr) : real::pthread_mutex_lock(mutex);
}

HEDDLE_OMP_ENTRY int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  const int result = real::pthread_mutex_trylock(mutex);
  return is_member() ? let_others_run_if_busy(result, EBUSY) : result;
}

HEDDLE_OMP_ENTRY int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* limit) noexcept {
  return is_member() ? lock(mutex, CLOCK_REALTIME, limit) : real::pthread_mutex_timedlock(mutex, limit);
}

HEDDLE_OMP_ENTRY int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) noexcept {
  return is_member() ? lock(mutex, clock, limit) : real::pthread_mutex_clocklock(mutex, clock, limit);
}

HEDDLE_OMP_ENTRY int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept { return unlock(mutex); }

HEDDLE_OMP_ENTRY int mtx_lock(mtx_t* mutex) {
  return is_member() ? to_c11(lock(as_pthread(mutex), CLOCK_REALTIME, nullptr)) : real::mtx_lock(mutex);
}

HEDDLE_OMP_ENTRY int mtx_trylock(mtx_t* mutex) {
  const int result = real::mtx_trylock(mutex);
  return is_member() ? let_others_run_if_busy(result, thrd_busy) : result;
}

HEDDLE_OMP_ENTRY int mtx_timedlock(mtx_t* mutex, const timespec* limit) {
  return is_member() ? to_c11(lock(as_pthread(mutex), CLOCK_REALTIME, limit)) : real::mtx_timedlock(mutex, limit);
}

HEDDLE_OMP_ENTRY int mtx_unlock(mtx_t* mutex) { return to_c11(unlock(as_pthread(mutex))); }
