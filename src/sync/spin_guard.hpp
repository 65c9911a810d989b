// A test-and-set lock for sections of a few instructions that never block, allocate or call user code. A holder may be
// preempted by the kernel, so waiters give up the processor after a while.
#pragma once

#include <atomic>
#include <mutex>

#include "arch/arch.hpp"
#include "platform/platform.hpp"

namespace heddle::sync {

class spin_guard {
 public:
  explicit spin_guard(std::atomic<bool>& flag) noexcept : flag_(&flag) {
    int spins = 0;
    // acquire pairs with ~spin_guard: everything the last holder wrote
    while (flag_->exchange(true, std::memory_order_acquire)) {
      while (flag_->load(std::memory_order_relaxed)) {  // wait on a shared copy; the exchange above decides
        if (++spins < 200) arch::pause();
        else platform::yield_processor();
      }
    }
  }
  spin_guard(std::atomic<bool>& flag, std::try_to_lock_t) noexcept
      // relaxed: a hint; acquire pairs with ~spin_guard
      : flag_(!flag.load(std::memory_order_relaxed) && !flag.exchange(true, std::memory_order_acquire) ? &flag : nullptr) {}
  spin_guard(const spin_guard&) = delete;
  spin_guard& operator=(const spin_guard&) = delete;
  ~spin_guard() { release(); }

  explicit operator bool() const noexcept { return flag_ != nullptr; }

  void release() noexcept {
    if (flag_ != nullptr) flag_->store(false, std::memory_order_release);  // pairs with the constructors
    flag_ = nullptr;
  }

 private:
  std::atomic<bool>* flag_;
};

}  // namespace heddle::sync
