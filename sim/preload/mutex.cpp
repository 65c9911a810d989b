// std::mutex and pthread_mutex_t between tasks. A mutex that another strand holds must not block the one kernel thread,
// because then no strand could release it. Recursive mutexes are left as they are: for them all strands are one thread.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include <heddle/export.hpp>

#include "platform/sim/engine.hpp"

using heddle::sim::active;
using heddle::sim::engine;

namespace {

using operation = int (*)(pthread_mutex_t*);

operation next(const char* name) noexcept { return reinterpret_cast<operation>(dlsym(RTLD_NEXT, name)); }

unsigned waiting = 0;  // strands that sleep on a mutex

bool is_plain(const pthread_mutex_t* mutex) noexcept {
  constexpr int type = 3, recursive = PTHREAD_MUTEX_RECURSIVE;
  return (mutex->__data.__kind & type) != recursive;
}

}  // namespace

extern "C" {

HEDDLE_API int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static constinit operation lock = nullptr, try_lock = nullptr;
  if (lock == nullptr) {
    try_lock = next("pthread_mutex_trylock");
    lock = next("pthread_mutex_lock");
  }
  if (active == nullptr || !is_plain(mutex)) return lock(mutex);
  int result = try_lock(mutex);
  while (result == EBUSY) {
    engine& e = *active;
    e.charge(heddle::sim::activity::search, e.settings().times.sleep);
    result = try_lock(mutex);  // no scheduling point between this look and the sleep
    if (result != EBUSY) break;
    ++waiting;
    e.sleep(mutex, heddle::sim::never);
    --waiting;
    result = try_lock(mutex);
  }
  return result;
}

HEDDLE_API int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static constinit operation unlock = nullptr;
  if (unlock == nullptr) unlock = next("pthread_mutex_unlock");
  const int result = unlock(mutex);
  if (waiting != 0) [[unlikely]]
    active->wake(mutex, 1);
  return result;
}

}  // extern "C"
