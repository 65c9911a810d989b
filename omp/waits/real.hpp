// The C library's own functions, before which those of this folder stand.
#pragma once

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>

// glibc declares these only where _FORTIFY_SOURCE is on.
extern "C" {
int __poll_chk(pollfd* all, nfds_t count, int limit, std::size_t bytes);
int __ppoll_chk(pollfd* all, nfds_t count, const timespec* limit, const sigset_t* blocked, std::size_t bytes);
}

namespace heddle::omp::waits {

// Aborts when there is none. `version`: the one to ask for first; null: whichever dlsym gives.
void* find_real(const char* name, const char* version) noexcept;

// Looked for when the library is loaded, or at the first call, if that is earlier (a constructor of another library's).
template <class F>
class real_function;
template <class R, class... A, bool Never>
class real_function<R (*)(A...) noexcept(Never)> {
 public:
  constexpr explicit real_function(const char* name, const char* version = nullptr) noexcept
      : name_(name), version_(version) {}
  // Not noexcept, whatever the function is said to be: a cancelled thread is unwound through its callers.
  R operator()(A... arguments) const { return find()(arguments...); }
  auto find() const noexcept -> R (*)(A...) {
    // relaxed: the function is there, and everybody who looks finds the same
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) [[unlikely]] {
      found = find_real(name_, version_);
      found_.store(found, std::memory_order_relaxed);
    }
    return reinterpret_cast<R (*)(A...)>(found);
  }

 private:
  const char* name_;
  const char* version_;
  mutable std::atomic<void*> found_{nullptr};
};

namespace real {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // of these functions, which are of no use in a type
#define HEDDLE_REAL(name) inline constinit real_function<decltype(&::name)> name(#name);
// Of two versions: the older one is for conditions of another size.
#define HEDDLE_REAL_CONDITION(name) inline constinit real_function<decltype(&::name)> name(#name, "GLIBC_2.3.2");
#include "omp/waits/functions.def"

#pragma GCC diagnostic pop

}  // namespace real

}  // namespace heddle::omp::waits
