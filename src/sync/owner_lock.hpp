// A lock that costs its owner two plain stores and a load, and everybody else a membarrier: for data of one worker that
// others need once in a while. Dekker's algorithm with the owner's fence moved to the other side.
#pragma once

#include <atomic>

#include "arch/arch.hpp"
#include "base/audit.hpp"
#include "platform/platform.hpp"

namespace heddle::sync {

class owner_lock {
 public:
  // Owner only (the worker, on whichever kernel thread carries it).
  void enter() noexcept {
    base::lock_is_taken("an owner_lock");
    if (!knock()) [[unlikely]]
      wait_outside();
  }
  // False: a visitor is at it.
  [[nodiscard]] bool try_enter() noexcept {
    base::lock_is_taken("an owner_lock");
    if (knock()) [[likely]]
      return true;
    leave();
    return false;
  }
  // pairs with try_visit: what the owner wrote
  void leave() noexcept { inside_.store(false, std::memory_order_release); }

  // Anybody else. False: another visitor is at it, or the owner is inside.
  [[nodiscard]] bool try_visit() noexcept {
    base::lock_is_taken("an owner_lock");
    if (visited_.exchange(true)) return false;
    platform::heavy_fence();
    if (!inside_.load(std::memory_order_acquire)) return true;  // pairs with leave: what the owner wrote
    end_visit();
    return false;
  }
  void end_visit() noexcept { visited_.store(false, std::memory_order_release); }  // pairs with enter, try_visit

 private:
  [[gnu::always_inline]] bool knock() noexcept {
    inside_.store(true, std::memory_order_relaxed);  // pairs with try_visit through its heavy fence
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return !visited_.load(std::memory_order_acquire);  // pairs with end_visit: what the visitor wrote
  }
  // Apart, so that entering costs few registers.
  [[gnu::noinline]] void wait_outside() noexcept {
    do {
      inside_.store(false, std::memory_order_release);  // pairs with try_visit: nothing was touched
      for (int spins = 0; visited_.load(std::memory_order_relaxed); ++spins) {  // knock looks again
        if (spins < 500) arch::pause();
        else platform::yield_processor();
      }
    } while (!knock());
  }

  std::atomic<bool> inside_{false};   // written by the owner
  std::atomic<bool> visited_{false};  // written by the one visitor
};

}  // namespace heddle::sync
