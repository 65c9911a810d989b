// The word of a lock: whether it is held and whether threads wait (src/wait/mutex.md). It names its holder, so that the
// holder can inherit the priority level of a waiting thread: src/worker/order/inheritance.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include <heddle/detail/fork_queue.hpp>

namespace heddle::detail {

// Returns the calling user-level thread, or 0 on a kernel thread without a worker, as in blocking().
[[gnu::always_inline]] inline std::uintptr_t current_holder() noexcept {
  const fork_queue* queue = current_queue();
  return queue == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(queue->running);
}

// The word is written by threads that lock or unlock, and by waiters while the lock is held. It publishes what the
// holder wrote. A function that returns bool makes one attempt. It returns false if the word had another value, which
// is then in `seen`.
class lock_word {
 public:
  // The value of the word at one moment.
  class state {
   public:
    explicit state(std::uintptr_t word) noexcept : word_(word) {}
    bool is_locked() const noexcept { return (word_ & locked) != 0; }
    bool has_waiters() const noexcept { return (word_ & waiters) != 0; }
    // Returns true if a waiter was woken to try again and has not tried yet.
    bool has_woken() const noexcept { return (word_ & woken) != 0; }
    // Returns true if the holder may have inherited a level that it has not given back.
    bool may_have_inherited() const noexcept { return (word_ & (inherits | leaving)) == inherits; }
    // Returns the user-level thread that holds the lock and may inherit levels, or 0 if there is none.
    std::uintptr_t heir() const noexcept { return (word_ & (locked | leaving)) == locked ? word_ & ~bits : 0; }

   private:
    friend class lock_word;
    std::uintptr_t word_;
  };

  constexpr lock_word() noexcept = default;
  state now() const noexcept { return state(word_.load()); }
  state glance() const noexcept { return state(word_.load(std::memory_order_relaxed)); }  // verified by an exchange

  // Taking the lock. acquire pairs with release: what the last holder wrote. release pairs with raise_holder, which
  // finds the holder's control block by the word.
  bool take_free(std::uintptr_t holder) noexcept {
    std::uintptr_t free = 0;
    return word_.compare_exchange_strong(free, holder | locked, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  // If `was_woken` is true, the bit `woken` stands for the caller, which is trying to take the lock here.
  bool take(state& seen, std::uintptr_t holder, bool was_woken = false) noexcept {
    return word_.compare_exchange_weak(seen.word_, (was_woken ? seen.word_ & ~woken : seen.word_) | holder | locked,
                                       std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  // Releasing the lock while no thread waits. release pairs with take.
  bool release_alone(std::uintptr_t holder) noexcept {
    std::uintptr_t alone = holder | locked;
    return word_.compare_exchange_strong(alone, 0, std::memory_order_release, std::memory_order_relaxed);
  }
  bool release(state& seen) noexcept { return word_.compare_exchange_weak(seen.word_, seen.word_ & (waiters | woken)); }
  void release() noexcept { word_.fetch_and(waiters | woken); }
  // Hands the lock to a waiter. The new holder does not inherit the bit `leaving` of the old one.
  void hand_to(std::uintptr_t holder) noexcept {
    std::uintptr_t seen = word_.load();
    while (!word_.compare_exchange_weak(seen, (seen & bits & ~leaving) | holder)) {
    }
  }

  // Waiting: these are called under the lock's guard. The caller is about to join the list of waiters. The result is as
  // in `take`.
  bool begin_waiting(state& seen, bool was_woken) noexcept {
    return word_.compare_exchange_weak(seen.word_, (was_woken ? seen.word_ & ~woken : seen.word_) | waiters);
  }
  void end_waiting() noexcept { word_.fetch_and(~waiters); }  // called when the list is empty
  void wake_one() noexcept { word_.fetch_or(woken); }

  // Inheritance: these are called under the process's lock of inherited levels. After note_inheritance() the holder
  // unlocks under the guard, where it gives back the level that it inherited. After leave() it has given the level back
  // and is about to unlock, so it inherits none any more.
  void note_inheritance() noexcept { word_.fetch_or(inherits); }
  void leave() noexcept { word_.fetch_or(leaving); }

 private:
  static constexpr std::uintptr_t locked = 1;  // held; the bits above `bits` are the holder's address
  static constexpr std::uintptr_t waiters = 2;
  static constexpr std::uintptr_t woken = 4;
  static constexpr std::uintptr_t inherits = 8;
  static constexpr std::uintptr_t leaving = 16;
  static constexpr std::uintptr_t bits = 63;  // control blocks are aligned to a cache line

  std::atomic<std::uintptr_t> word_{0};
};

struct inheriting_lock {
  static constexpr std::int8_t nothing = std::numeric_limits<std::int8_t>::min();

  lock_word word;
  // The level that the holder inherits through this lock, or `nothing`. Under the process's lock of inherited levels.
  std::int8_t inherited{nothing};
  // An address on the stack of the thread that took the lock last. While `word` is locked that thread is the holder,
  // except between the change of the word and this store. It is a hint that only dumps read.
  std::atomic<std::uintptr_t> holder_stack{0};

  // Called when the caller has taken the lock. A stack pointer is at hand, whereas a thread's identity would have to be
  // looked up.
  void note_holder() noexcept {
    char here;
    holder_stack.store(reinterpret_cast<std::uintptr_t>(&here), std::memory_order_relaxed);  // a hint
  }
};

}  // namespace heddle::detail
