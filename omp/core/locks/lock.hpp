// Locks (OpenMP 5.1, section 3.9). A simple lock is one word, so that it fits the four bytes that gcc's omp.h reserves;
// the waiting threads are kept in a table by the lock's address. A nestable lock is the address of an object that
// omp_init_nest_lock makes: eight bytes, which both headers and both Fortran modules reserve.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::omp {

struct task;

// There are three states: free, held, and held with threads that may wait. The memory is the program's, and may be gone
// as soon as the lock has been released.
//
// A thread that waits spins briefly and then sleeps. It runs no tasks meanwhile, because omp_set_lock is no task
// scheduling point. The first thread that comes gets the lock, but a thread that was woken in vain several times is
// handed the lock.
class word_lock {
 public:
  void lock() noexcept {
    std::uint32_t seen = free;
    // acquire pairs with unlock: makes visible what the last holder wrote
    if (word_.compare_exchange_strong(seen, held, std::memory_order_acquire, std::memory_order_relaxed)) [[likely]]
      return;
    lock_slow();
  }
  bool try_lock() noexcept {
    std::uint32_t seen = free;
    return word_.compare_exchange_strong(seen, held, std::memory_order_acquire,  // pairs with unlock
                                         std::memory_order_relaxed);
  }
  void unlock() noexcept {
    std::uint32_t seen = held;
    // release pairs with lock: publishes what the holder wrote
    if (word_.compare_exchange_strong(seen, free, std::memory_order_release, std::memory_order_relaxed)) [[likely]]
      return;
    unlock_slow();
  }

 private:
  void lock_slow() noexcept;
  void unlock_slow() noexcept;

  static constexpr std::uint32_t free = 0, held = 1, waited_for = 2;
  std::atomic<std::uint32_t> word_{free};
};
static_assert(sizeof(word_lock) == 4);

// A nestable lock. Its owner is a task: another task of the same thread waits (section 3.9.3). Everything but lock_
// belongs to the owner.
class nest_lock {
 public:
  // Returns the depth after the call.
  int lock(const task* by) noexcept;
  int try_lock(const task* by) noexcept;  // returns 0 if another task has the lock
  int unlock() noexcept;

 private:
  word_lock lock_;
  int depth_{0};
  // Written by the holder only. Another task that reads it sees some task other than itself. Relaxed: a task finds
  // itself there only if it has written that itself.
  std::atomic<const task*> owner_{nullptr};
};

}  // namespace heddle::omp
