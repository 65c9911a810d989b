// The word of a lock, which names its holder, so that a thread that waits can lend its priority level to the holder:
// src/worker/inheritance.md.
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

struct lendable {
  static constexpr std::uintptr_t locked = 1;       // held; the bits above `bits` are the holder's
  static constexpr std::uintptr_t has_waiters = 2;  // somebody waits; changed under the lock's guard
  static constexpr std::uintptr_t woken = 4;        // a waiter was woken to try again, and has not tried yet
  // A level may be lent to the holder, who therefore unlocks under the guard, where it gives the level back.
  static constexpr std::uintptr_t lends = 8;
  // The holder has given back what it was lent and is about to unlock: nobody lends to it any more.
  static constexpr std::uintptr_t leaving = 16;
  static constexpr std::uintptr_t bits = 63;  // control blocks are aligned to a cache line
  static constexpr std::int8_t nothing = std::numeric_limits<std::int8_t>::min();

  // Written by whoever locks or unlocks, and by waiters while it is held. Publishes what the holder wrote.
  std::atomic<std::uintptr_t> word{0};
  // The level that this lock lends to its holder, or `nothing`. Under the process's lock of loans.
  std::int8_t lent{nothing};
};

}  // namespace heddle::detail
