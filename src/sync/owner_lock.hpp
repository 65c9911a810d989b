// A lock that costs its owner two plain stores and a load, and every visitor a heavy fence. It is for data of one
// worker that others need now and then. It is Dekker's algorithm with the owner's fence moved to the other side:
// README.md, [lock:1].
#pragma once

#include <atomic>

#include "arch/arch.hpp"
#include "base/audit.hpp"
#include "platform/platform.hpp"

namespace heddle::sync {

class owner_lock {
 public:
  // Called by the owner only (the worker, on any kernel thread that carries it). Waits while a visitor is inside.
  void enter() noexcept {
    base::lock_is_taken("an owner_lock");
    if (!knock()) [[unlikely]]
      wait_outside();
  }
  // Does the same without waiting. Returns false if a visitor is inside or on its way in.
  [[nodiscard]] bool try_enter() noexcept {
    base::lock_is_taken("an owner_lock");
    if (knock()) [[likely]]
      return true;
    leave();
    return false;
  }
  // [lock:6]. pairs with try_visit: what the owner wrote
  void leave() noexcept { inside_.store(false, std::memory_order_release); }

  // Called by any other kernel thread. Returns false if the owner is inside, or if another visitor is inside or on its
  // way in.
  [[nodiscard]] bool try_visit() noexcept {
    base::lock_is_taken("an owner_lock");
    if (visited_.exchange(true)) return false;                  // [lock:7]
    platform::heavy_fence();                                    // [lock:8]
    if (!inside_.load(std::memory_order_acquire)) return true;  // [lock:9]. pairs with leave: what the owner wrote
    end_visit();
    return false;
  }
  // [lock:10]. pairs with knock: what the visitor wrote
  void end_visit() noexcept { visited_.store(false, std::memory_order_release); }

 private:
  [[gnu::always_inline]] bool knock() noexcept {
    inside_.store(true, std::memory_order_relaxed);       // [lock:3]. pairs with try_visit through its heavy fence
    std::atomic_signal_fence(std::memory_order_seq_cst);  // [lock:4]
    return !visited_.load(std::memory_order_acquire);     // [lock:5]. pairs with end_visit: what the visitor wrote
  }
  // It is out of line, so that the short path saves few registers.
  [[gnu::noinline]] void wait_outside() noexcept {
    do {
      inside_.store(false, std::memory_order_release);  // pairs with try_visit: the owner has touched nothing
      for (int spins = 0; visited_.load(std::memory_order_relaxed); ++spins) {  // relaxed: knock looks again
        if (spins < 500) arch::pause();
        else platform::yield_processor();
      }
    } while (!knock());
  }

  std::atomic<bool> inside_{false};   // written by the owner; publishes what the owner wrote inside
  std::atomic<bool> visited_{false};  // written by the one visitor; publishes what the visitor wrote inside
};

}  // namespace heddle::sync
