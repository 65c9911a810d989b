// A lock of one word that is zero at first. Critical sections of both ABIs lie in memory that the compiler has made.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::omp {

// Waiting threads sleep where all OpenMP threads do (parker). The order is not fair, but no thread is passed over for
// ever ([omp_lock:3]). If a thread is preempted with the lock, others wait without spinning.
class lock_word {
 public:
  void lock() noexcept {
    std::uintptr_t expected = is_free;
    // acquire pairs with unlock: makes visible what the last holder wrote
    if (!word_.compare_exchange_strong(expected, is_held, std::memory_order_acquire, std::memory_order_relaxed))
      lock_slowly();
  }
  bool try_lock() noexcept {
    std::uintptr_t now = word_.load(std::memory_order_relaxed);  // relaxed: confirmed by the exchange
    // acquire pairs with unlock
    return (now & is_held) == 0 && word_.compare_exchange_strong(now, now | is_held, std::memory_order_acquire);
  }
  void unlock() noexcept {
    std::uintptr_t expected = is_held;
    // release pairs with lock
    if (!word_.compare_exchange_strong(expected, is_free, std::memory_order_release, std::memory_order_relaxed))
      unlock_slowly();
  }

 private:
  static constexpr std::uintptr_t is_free = 0;
  static constexpr std::uintptr_t is_held = 1;

  struct sleeper;
  void lock_slowly() noexcept;
  void unlock_slowly() noexcept;

  // {the waiting threads, the last to come first; held:1}. Changed by takers, by waiting threads and by the holder.
  std::atomic<std::uintptr_t> word_{is_free};
};

// The lock for the name of a critical section, which the compiler makes as zeroed memory of at least a word.
inline lock_word& lock_at(void* address) noexcept { return *static_cast<lock_word*>(address); }

}  // namespace heddle::omp
