// Mutexes of the C library, locked by members.
#pragma once

#include <pthread.h>
#include <time.h>

namespace heddle::omp::waits {

// Shared with other processes: only the kernel can wake who waits.
bool is_shared(const pthread_mutex_t& mutex) noexcept;

// A member locks the mutex, and others run until it is free. `limit` null: however long that takes. The result is that
// of pthread_mutex_clocklock.
int lock(pthread_mutex_t* mutex, clockid_t clock, const timespec* limit);

// Any thread.
int unlock(pthread_mutex_t* mutex);

}  // namespace heddle::omp::waits
