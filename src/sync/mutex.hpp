// A mutex between kernel threads, for each kind of platform. It is never held across a suspension of a user-level
// thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/audit.hpp"
#include "platform/platform.hpp"

namespace heddle::sync {

#if defined(HEDDLE_SIM)

// A simulated one, because std::mutex would block the one real kernel thread that could release it.
class mutex {
 public:
  void lock() noexcept {
    while (held_.load() != 0) {
      ++waiting_;
      platform::wait_on(held_, 1);
      --waiting_;
    }
    held_.store(1);
  }
  bool try_lock() noexcept { return held_.exchange(1) == 0; }
  void unlock() noexcept {
    held_.store(0);
    if (waiting_ != 0) platform::wake_one(held_);
  }

 private:
  std::atomic<std::uint32_t> held_{0};  // futex word
  unsigned waiting_{0};
};

#else

#if defined(HEDDLE_AUDIT)

class mutex : private std::mutex {
 public:
  void lock() {
    base::lock_is_taken("a mutex");
    std::mutex::lock();
  }
  bool try_lock() {
    base::lock_is_taken("a mutex");
    return std::mutex::try_lock();
  }
  using std::mutex::unlock;
};

#else

using mutex = std::mutex;

#endif
#endif

// A mutex that is held while memory is allocated or kernel threads are started. A preemptive thread may be preempted
// while it holds this lock, as it may be inside malloc. So the guide's rule for malloc's locks applies
// (docs/guide/preemption.md): where preemptive threads take it, a thread that is not preemptive must not wait for it.
// Audit builds do not check it.
#if defined(HEDDLE_SIM)
using slow_mutex = mutex;
#else
using slow_mutex = std::mutex;
#endif

}  // namespace heddle::sync
