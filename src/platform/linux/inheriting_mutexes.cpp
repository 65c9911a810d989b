// Mutexes with priority inheritance beside thread-local storage apart from kernel threads ([own_storage:2]). The kernel
// finds the owner of such a mutex by the number in it, which must be a kernel thread's, and lets only that kernel
// thread unlock. The number of a block is none. So the two exclude each other, and the later one of them is refused.
// This file stands before the C library's function by which a program asks for such mutexes.
#include "platform/linux/inheriting_mutexes.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include <heddle/export.hpp>

namespace heddle::platform {

namespace {

// Each side sets its own and then looks at the other's: Dekker's two sides.
std::atomic<bool> own_storage_is_used{false}, mutexes_inherit{false};

}  // namespace

bool exclude_inheriting_mutexes() noexcept {
  if (own_storage_is_used.exchange(true)) return true;
  if (!mutexes_inherit.load()) return true;
  own_storage_is_used.store(false);
  return false;
}

}  // namespace heddle::platform

extern "C" HEDDLE_API int pthread_mutexattr_setprotocol(pthread_mutexattr_t* attributes, int protocol) noexcept {
  using heddle::platform::mutexes_inherit;
  static const auto in_c_library =
      reinterpret_cast<int (*)(pthread_mutexattr_t*, int)>(dlsym(RTLD_NEXT, "pthread_mutexattr_setprotocol"));
  if (in_c_library == nullptr) return ENOTSUP;
  if (protocol == PTHREAD_PRIO_INHERIT && !mutexes_inherit.exchange(true) &&
      heddle::platform::own_storage_is_used.load()) {
    mutexes_inherit.store(false);
    return ENOTSUP;
  }
  return in_c_library(attributes, protocol);
}
