// Waits of members in the kernel, on a kernel thread that they keep meanwhile, while their worker goes on with others.
// They are needed because the C library does not disclose how these objects are waited for.
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include <cerrno>

#include <heddle/pause.hpp>

#include "omp/waits/member.hpp"
#include "omp/waits/real.hpp"

using namespace heddle::omp::waits;

HEDDLE_OMP_ENTRY int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  if (!is_member()) return real::pthread_barrier_wait(barrier);
  return in_kernel([=] { return real::pthread_barrier_wait(barrier); });
}

HEDDLE_OMP_ENTRY int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  if (!is_member()) return real::pthread_spin_lock(lock);
  for (unsigned turn = 0;; ++turn) {
    if (const int result = ::pthread_spin_trylock(lock); result != EBUSY) return result;
    if (turn % 64 == 63) heddle::detail::yield();
    heddle_pause();
  }
}

HEDDLE_OMP_ENTRY int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  if (!is_member()) return real::pthread_rwlock_rdlock(lock);
  const int result = ::pthread_rwlock_tryrdlock(lock);
  return result != EBUSY ? result : in_kernel([=] { return real::pthread_rwlock_rdlock(lock); });
}

HEDDLE_OMP_ENTRY int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  if (!is_member()) return real::pthread_rwlock_wrlock(lock);
  const int result = ::pthread_rwlock_trywrlock(lock);
  return result != EBUSY ? result : in_kernel([=] { return real::pthread_rwlock_wrlock(lock); });
}

// With a limit the C library is called at once, because it reports what is wrong with the limit.
HEDDLE_OMP_ENTRY int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* limit) noexcept {
  if (!is_member()) return real::pthread_rwlock_timedrdlock(lock, limit);
  return in_kernel([=] { return real::pthread_rwlock_timedrdlock(lock, limit); });
}

HEDDLE_OMP_ENTRY int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* limit) noexcept {
  if (!is_member()) return real::pthread_rwlock_timedwrlock(lock, limit);
  return in_kernel([=] { return real::pthread_rwlock_timedwrlock(lock, limit); });
}

HEDDLE_OMP_ENTRY int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* limit) noexcept {
  if (!is_member()) return real::pthread_rwlock_clockrdlock(lock, clock, limit);
  return in_kernel([=] { return real::pthread_rwlock_clockrdlock(lock, clock, limit); });
}

HEDDLE_OMP_ENTRY int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* limit) noexcept {
  if (!is_member()) return real::pthread_rwlock_clockwrlock(lock, clock, limit);
  return in_kernel([=] { return real::pthread_rwlock_clockwrlock(lock, clock, limit); });
}

HEDDLE_OMP_ENTRY int pthread_join(pthread_t thread, void** value) {
  if (!is_member()) return real::pthread_join(thread, value);
  return in_kernel([=] { return real::pthread_join(thread, value); });
}

HEDDLE_OMP_ENTRY int pthread_timedjoin_np(pthread_t thread, void** value, const timespec* limit) {
  if (!is_member()) return real::pthread_timedjoin_np(thread, value, limit);
  return in_kernel([=] { return real::pthread_timedjoin_np(thread, value, limit); });
}

HEDDLE_OMP_ENTRY int pthread_clockjoin_np(pthread_t thread, void** value, clockid_t clock, const timespec* limit) {
  if (!is_member()) return real::pthread_clockjoin_np(thread, value, clock, limit);
  return in_kernel([=] { return real::pthread_clockjoin_np(thread, value, clock, limit); });
}

HEDDLE_OMP_ENTRY int thrd_join(thrd_t thread, int* value) {
  if (!is_member()) return real::thrd_join(thread, value);
  return in_kernel([=] { return real::thrd_join(thread, value); });
}

namespace {

// These report errors in errno, which is the member's own and goes with it.
template <class Wait>
int wait_for(sem_t* semaphore, Wait wait) {
  if (::sem_trywait(semaphore) == 0) return 0;
  return in_kernel(wait);
}

}  // namespace

HEDDLE_OMP_ENTRY int sem_wait(sem_t* semaphore) {
  if (!is_member()) return real::sem_wait(semaphore);
  return wait_for(semaphore, [=] { return real::sem_wait(semaphore); });
}

HEDDLE_OMP_ENTRY int sem_timedwait(sem_t* semaphore, const timespec* limit) {
  if (!is_member()) return real::sem_timedwait(semaphore, limit);
  return wait_for(semaphore, [=] { return real::sem_timedwait(semaphore, limit); });
}

HEDDLE_OMP_ENTRY int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* limit) {
  if (!is_member()) return real::sem_clockwait(semaphore, clock, limit);
  return wait_for(semaphore, [=] { return real::sem_clockwait(semaphore, clock, limit); });
}
