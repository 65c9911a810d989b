// The word of a lock: whether it is held and who waits (src/wait/mutex.md). It names its holder, so that a thread that
// waits can lend its priority level to the holder: src/worker/order/inheritance.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include <heddle/detail/fork_queue.hpp>

namespace heddle::detail {

// The user-level thread that calls; 0 on a kernel thread without a worker, as in blocking().
[[gnu::always_inline]] inline std::uintptr_t current_holder() noexcept {
  const fork_queue* queue = current_queue();
  return queue == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(queue->running);
}

// Written by whoever locks or unlocks, and by waiters while it is held. Publishes what the holder wrote. The functions
// that return bool are one attempt: false: the word was another one, which `seen` has then.
class lock_word {
 public:
  // What the word says at one moment.
  class state {
   public:
    explicit state(std::uintptr_t word) noexcept : word_(word) {}
    bool is_locked() const noexcept { return (word_ & locked) != 0; }
    bool has_waiters() const noexcept { return (word_ & waiters) != 0; }
    // A waiter was woken to try again, and has not tried yet.
    bool has_woken() const noexcept { return (word_ & woken) != 0; }
    // A level may be lent to the holder, who has not given it back.
    bool owes_a_loan() const noexcept { return (word_ & (lends | leaving)) == lends; }
    // The user-level thread that holds it and to which levels may be lent; 0: none.
    std::uintptr_t borrower() const noexcept { return (word_ & (locked | leaving)) == locked ? word_ & ~bits : 0; }

   private:
    friend class lock_word;
    std::uintptr_t word_;
  };

  constexpr lock_word() noexcept = default;
  state now() const noexcept { return state(word_.load()); }
  state glance() const noexcept { return state(word_.load(std::memory_order_relaxed)); }  // verified by an exchange

  // Taking it: acquire pairs with release: what the last holder wrote. release pairs with worker::lend, which finds the
  // holder's control block by the word.
  bool take_free(std::uintptr_t holder) noexcept {
    std::uintptr_t free = 0;
    return word_.compare_exchange_strong(free, holder | locked, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  // `was_woken`: the bit stands for the caller, who is trying now.
  bool take(state& seen, std::uintptr_t holder, bool was_woken = false) noexcept {
    return word_.compare_exchange_weak(seen.word_, (was_woken ? seen.word_ & ~woken : seen.word_) | holder | locked,
                                       std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  // Letting it go. Where nobody waits: release pairs with take.
  bool release_alone(std::uintptr_t holder) noexcept {
    std::uintptr_t alone = holder | locked;
    return word_.compare_exchange_strong(alone, 0, std::memory_order_release, std::memory_order_relaxed);
  }
  bool release(state& seen) noexcept { return word_.compare_exchange_weak(seen.word_, seen.word_ & (waiters | woken)); }
  void release() noexcept { word_.fetch_and(waiters | woken); }
  // To a waiter, which does not inherit `leaving` from the one that hands over to it.
  void hand_to(std::uintptr_t holder) noexcept {
    std::uintptr_t seen = word_.load();
    while (!word_.compare_exchange_weak(seen, (seen & bits & ~leaving) | holder)) {
    }
  }

  // Waiting, all under the lock's guard. The caller is about to be in the list of waiters; as in `take`.
  bool begin_waiting(state& seen, bool was_woken) noexcept {
    return word_.compare_exchange_weak(seen.word_, (was_woken ? seen.word_ & ~woken : seen.word_) | waiters);
  }
  void end_waiting() noexcept { word_.fetch_and(~waiters); }  // the list is empty
  void wake_one() noexcept { word_.fetch_or(woken); }

  // Lending, under the process's lock of loans. From now on the holder unlocks under the guard, where it gives back
  // what it was lent; it has done so, and is about to unlock: nobody lends to it any more.
  void lend() noexcept { word_.fetch_or(lends); }
  void leave() noexcept { word_.fetch_or(leaving); }

 private:
  static constexpr std::uintptr_t locked = 1;  // held; the bits above `bits` are the holder's
  static constexpr std::uintptr_t waiters = 2;
  static constexpr std::uintptr_t woken = 4;
  static constexpr std::uintptr_t lends = 8;
  static constexpr std::uintptr_t leaving = 16;
  static constexpr std::uintptr_t bits = 63;  // control blocks are aligned to a cache line

  std::atomic<std::uintptr_t> word_{0};
};

struct lendable {
  static constexpr std::int8_t nothing = std::numeric_limits<std::int8_t>::min();

  lock_word word;
  // The level that this lock lends to its holder, or `nothing`. Under the process's lock of loans.
  std::int8_t lent{nothing};
  // An address on the stack of the thread that took the lock last. While `word` is locked that is the holder, but for
  // the moment between the change of the word and this store. Read by dumps only, as a hint.
  std::atomic<std::uintptr_t> holder_stack{0};

  // The caller has taken the lock. A stack pointer is at hand where a thread's identity would have to be looked up.
  void note_holder() noexcept {
    char here;
    holder_stack.store(reinterpret_cast<std::uintptr_t>(&here), std::memory_order_relaxed);  // a hint
  }
};

}  // namespace heddle::detail
