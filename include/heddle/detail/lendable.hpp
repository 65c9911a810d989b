// What a lock says of who holds it, so that the level of a thread that
// waits can be lent to that one: src/worker/README.md, "Inheritance".
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
  static constexpr std::uintptr_t woken = 4;        // a waiter was taken out, shall try again and has not yet
  // a level may be lent to the holder: it leaves through the guard, where it gives that back
  static constexpr std::uintptr_t lends = 8;
  // the holder has given it back and is about to let go: nobody lends to it any more
  static constexpr std::uintptr_t leaving = 16;
  static constexpr std::uintptr_t bits = 63;  // control blocks are aligned to a cache line
  static constexpr std::int8_t nothing = std::numeric_limits<std::int8_t>::min();

  // Written by who locks and unlocks, and, while it is held, by who waits. Publishes what the holder wrote.
  std::atomic<std::uintptr_t> word{0};
  // the level that it adds to those lent to its holder; under the process's lock of loans
  std::int8_t lent{nothing};
};

}  // namespace heddle::detail
