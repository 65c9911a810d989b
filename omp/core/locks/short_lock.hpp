// A lock that is held for a few instructions, by threads that may be preempted with it.
#pragma once

#include <atomic>

#include "omp/seam.hpp"

namespace heddle::omp {

// Test-and-set. A waiting thread lets other threads run, among which is the holder if it was preempted. (heddle's
// spin_word is for code that is not preempted.) Never held across a wait or user code.
class short_lock {
 public:
  void lock() noexcept {
    // acquire pairs with unlock: makes visible everything that the last holder wrote
    while (held_.exchange(true, std::memory_order_acquire)) {
      // relaxed: the exchange decides
      for (int turn = 0; held_.load(std::memory_order_relaxed); ++turn) {
        if (turn < 100) heddle_pause();
        else heddle::detail::yield();
      }
    }
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }  // pairs with lock

 private:
  std::atomic<bool> held_{false};
};

}  // namespace heddle::omp
