// Who acts for a worker, or may begin to: its carrier C, a foreign kernel thread F to which it is lent, or nobody. It
// is also the word on which the carrier sleeps. The states and all transitions: the tables in lending.md. Each function
// is one row or a few rows of the second table; they are called by the party that stands above them.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"

namespace heddle::worker {

class token {
 public:
  enum class state : std::uint32_t {
    awake = 0,       // C
    settling = 1,    // C, which looks once more before it sleeps
    asleep = 2,      // nobody; whoever changes this
    lent = 3,        // F, since the worker was asleep
    held = 4,        // nobody; F is expected back, and C naps
    stale = 5,       // the same, and C has found it held at the end of a nap
    lent_again = 6,  // F, since the worker was held
    wanted = 7       // F, which is to wake C afterwards
  };
  static constexpr bool is_lent(state s) noexcept {
    return s == state::lent || s == state::lent_again || s == state::wanted;
  }
  static constexpr bool is_held(state s) noexcept { return s == state::held || s == state::stale; }

  // Anybody. A hint, unless ordered otherwise.
  state look() const noexcept { return static_cast<state>(word_.load(std::memory_order_relaxed)); }
  bool is_lent() const noexcept { return is_lent(static_cast<state>(word_.load())); }
  // A wake-up. seq_cst throughout: one that finds the worker settling or awake was sent after what it is sent for,
  // which the worker's last look sees then. False: the worker is lent, and C will have it afterwards.
  bool send() noexcept;
  // The same to an arena's worker, for which no carrier sleeps. True: it rested, and the caller sees to it that it is
  // carried.
  [[nodiscard]] bool send_to_resting() noexcept;

  // C. What came before a wake-up is seen after `now` has given awake.
  state now() const noexcept {
    return static_cast<state>(word_.load(std::memory_order_acquire));
  }  // pairs with send, F
  void settle() noexcept { put(state::settling, std::memory_order_relaxed); }   // before the worker is in the idle set
  void stay_awake() noexcept { put(state::awake, std::memory_order_relaxed); }  // it is not in the idle set any more
  // From here on the worker may be lent. Nothing happens where somebody has sent a wake-up meanwhile.
  // False then.
  bool fall_asleep() noexcept { return change(state::settling, state::asleep); }
  // Sleeps while the word is `seen`; until the deadline if that is not 0. May return early.
  void wait(state seen, platform::nanoseconds deadline = 0) noexcept {
    platform::wait_on(word_, static_cast<std::uint32_t>(seen), deadline);
  }
  // A timer is due. False: the worker has been lent, or is awake.
  [[nodiscard]] bool wake_for_timer() noexcept { return change(state::asleep, state::awake); }
  // [borrow:6]: a nap has ended with the word `seen`.
  void end_nap(state seen, bool something_is_queued) noexcept;

  // F.
  enum class taken : std::uint8_t { no, from_asleep, from_held };
  [[nodiscard]] taken take() noexcept;  // [borrow:1]
  // The worker is C's, at once. The token, and the worker, may be gone then.
  void return_awake() noexcept;
  // [borrow:5], [borrow:6]: gives it back, asleep or held; awake where somebody has asked for that. The same.
  void return_resting(bool asleep) noexcept;

 private:
  void put(state s, std::memory_order order) noexcept { word_.store(static_cast<std::uint32_t>(s), order); }
  bool change(state from, state to) noexcept {
    auto expected = static_cast<std::uint32_t>(from);
    return word_.compare_exchange_strong(expected, static_cast<std::uint32_t>(to));
  }

  std::atomic<std::uint32_t> word_{0};  // a futex word
};

}  // namespace heddle::worker
