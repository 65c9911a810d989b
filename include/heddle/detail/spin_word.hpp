// The guard of heddle's synchronisation objects.
#pragma once

#include <atomic>

#include <heddle/export.hpp>

namespace heddle::detail {

// An unfair test-and-set lock that is held for a few instructions. It guards heddle's synchronisation objects. It is
// never held across a suspension, an allocation or user code.
class spin_word {
 public:
  void lock() noexcept {
#if defined(HEDDLE_AUDIT)
    check_taker();
#endif
    // acquire pairs with unlock: everything the last holder wrote
    while (flag_.exchange(true, std::memory_order_acquire)) contended();
  }
  bool try_lock() noexcept {
#if defined(HEDDLE_AUDIT)
    check_taker();
#endif
    return !flag_.exchange(true, std::memory_order_acquire);  // pairs with unlock
  }
  void unlock() noexcept { flag_.store(false, std::memory_order_release); }  // pairs with lock, try_lock

 private:
  HEDDLE_API void contended() noexcept;
  // In audit builds: aborts if the taker is a thread that may be preempted while it holds the lock.
  HEDDLE_API static void check_taker() noexcept;
  std::atomic<bool> flag_{false};
};

}  // namespace heddle::detail
