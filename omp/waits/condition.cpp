// Conditions of the C library, for which members wait. Members that wait here are unknown to the C library, and its own
// waiters are unknown here. So a signaller calls one of each, because POSIX lets waits end for nothing.
#include <threads.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "omp/waits/address_waits.hpp"
#include "omp/waits/deadline.hpp"
#include "omp/waits/member.hpp"
#include "omp/waits/mutex.hpp"
#include "omp/waits/real.hpp"

namespace heddle::omp::waits {

namespace {

// Bits of pthread_cond_t's word of flags since glibc 2.25, in which its attributes are kept.
struct condition_flags {
  static constexpr unsigned shared = 1, monotonic = 2;
  explicit condition_flags(const pthread_cond_t& c) noexcept
      : bits(__atomic_load_n(&c.__data.__wrefs, __ATOMIC_RELAXED)) {}
  bool has(unsigned bit) const noexcept { return (bits & bit) != 0; }
  unsigned bits;
};

// clock_from_condition means the clock of the condition's attributes.
constexpr clockid_t clock_from_condition = -1;

int wait_in_kernel(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) {
  return in_kernel([=] {
    if (limit == nullptr) return real::pthread_cond_wait(condition, mutex);
    if (clock == clock_from_condition) return real::pthread_cond_timedwait(condition, mutex, limit);
    return real::pthread_cond_clockwait(condition, mutex, clock, limit);
  });
}

// For a member; like pthread_cond_clockwait.
int wait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) {
  const condition_flags flags(*condition);
  if (flags.has(condition_flags::shared) || is_shared(*mutex)) return wait_in_kernel(condition, mutex, clock, limit);
  if (clock == clock_from_condition) clock = flags.has(condition_flags::monotonic) ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  if (limit != nullptr && (!is_valid(*limit) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))) return EINVAL;
  bool called = false;
  {
    // The waiter enters before the mutex is free, so a thread that locks the mutex after this and signals finds it.
    address_waits::one waiting(at_conditions, condition, false);
    if (const int error = unlock(mutex); error != 0) return error;
    do {
      called = waiting.sleep_until(limit == nullptr ? steady::now() + std::chrono::hours(1) : next_look(clock, *limit));
    } while (!called && (limit == nullptr || !has_come(clock, *limit)));
    if (!called) called = !waiting.leave();
  }
  // The condition may be gone from here on.
  const int error = lock(mutex, CLOCK_REALTIME, nullptr);
  return error != 0 ? error : called ? 0 : ETIMEDOUT;
}

// Inside a wait of other threads the C library unlocks their mutex where these functions do not see it. So the members
// that wait for the mutex look more often for a while ([waits:4]).
void call_before_unseen_unlock(pthread_mutex_t* mutex) noexcept { at_mutexes.call_one(mutex); }

}  // namespace

}  // namespace heddle::omp::waits

using namespace heddle::omp::waits;

namespace {

int to_c11(int error) noexcept { return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : thrd_error; }
pthread_mutex_t* as_pthread(mtx_t* mutex) noexcept { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* as_pthread(cnd_t* condition) noexcept { return reinterpret_cast<pthread_cond_t*>(condition); }

}  // namespace

HEDDLE_OMP_ENTRY int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (is_member()) return wait(condition, mutex, clock_from_condition, nullptr);
  call_before_unseen_unlock(mutex);
  return real::pthread_cond_wait(condition, mutex);
}

HEDDLE_OMP_ENTRY int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* limit) {
  if (is_member()) return wait(condition, mutex, clock_from_condition, limit);
  call_before_unseen_unlock(mutex);
  return real::pthread_cond_timedwait(condition, mutex, limit);
}

HEDDLE_OMP_ENTRY int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                            const timespec* limit) {
  if (is_member()) return wait(condition, mutex, clock, limit);
  call_before_unseen_unlock(mutex);
  return real::pthread_cond_clockwait(condition, mutex, clock, limit);
}

HEDDLE_OMP_ENTRY int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  const int result = real::pthread_cond_signal(condition);
  // Uses only its address, because the signalled thread may have destroyed it.
  at_conditions.call_one(condition);
  return result;
}

HEDDLE_OMP_ENTRY int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  const int result = real::pthread_cond_broadcast(condition);
  at_conditions.call_all(condition);
  return result;
}

HEDDLE_OMP_ENTRY int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  if (is_member()) return to_c11(wait(as_pthread(condition), as_pthread(mutex), CLOCK_REALTIME, nullptr));
  call_before_unseen_unlock(as_pthread(mutex));
  return real::cnd_wait(condition, mutex);
}

HEDDLE_OMP_ENTRY int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* limit) {
  if (is_member()) return to_c11(wait(as_pthread(condition), as_pthread(mutex), CLOCK_REALTIME, limit));
  call_before_unseen_unlock(as_pthread(mutex));
  return real::cnd_timedwait(condition, mutex, limit);
}

HEDDLE_OMP_ENTRY int cnd_signal(cnd_t* condition) {
  const int result = real::cnd_signal(condition);
  at_conditions.call_one(condition);
  return result;
}

HEDDLE_OMP_ENTRY int cnd_broadcast(cnd_t* condition) {
  const int result = real::cnd_broadcast(condition);
  at_conditions.call_all(condition);
  return result;
}
