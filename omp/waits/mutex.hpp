// Mutexes of the C library, locked by members.
#pragma once

#include <pthread.h>
#include <time.h>

namespace heddle::omp::waits {

// Whether the mutex is shared with other processes; then only the kernel can wake the waiters.
bool is_shared(const pthread_mutex_t& mutex) noexcept;

// Locks the mutex for a member; others run until it is free. A null `limit` means without a limit. The result is that
// of pthread_mutex_clocklock.
int lock(pthread_mutex_t* mutex, clockid_t clock, const timespec* limit);

// May be called by any thread.
int unlock(pthread_mutex_t* mutex);

}  // namespace heddle::omp::waits
