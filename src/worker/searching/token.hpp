// The word that says which kernel thread acts for a worker, or may begin to: its carrier C, a foreign kernel thread F
// that carries it for a call, or none. The carrier also sleeps on this word. The states and all transitions are in the
// tables of lending.md. Each function is one row or a few rows of the second table. A comment above a group of
// functions says which kernel thread calls them.
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
    asleep = 2,      // none; the kernel thread that changes this
    lent = 3,        // F, since the worker was asleep
    held = 4,        // none; F is expected back, and C naps
    stale = 5,       // the same, and C has found it held at the end of a nap
    lent_again = 6,  // F, since the worker was held
    wanted = 7       // F, which is to wake C afterwards
  };
  static constexpr bool is_lent(state s) noexcept {
    return s == state::lent || s == state::lent_again || s == state::wanted;
  }
  static constexpr bool is_held(state s) noexcept { return s == state::held || s == state::stale; }

  // Any kernel thread. A hint, unless it is ordered otherwise.
  state look() const noexcept { return static_cast<state>(word_.load(std::memory_order_relaxed)); }
  bool is_lent() const noexcept { return is_lent(static_cast<state>(word_.load())); }
  // Sends a wake-up. seq_cst throughout: if it finds the worker settling or awake, the work that it is sent for was
  // published before it, and the worker's last look sees that work. Returns false if F has the worker; C will have it
  // afterwards.
  bool send() noexcept;
  // The same to an arena's worker, for which no carrier sleeps. Returns true if it rested, and the caller must have it
  // carried.
  [[nodiscard]] bool send_to_resting() noexcept;

  // C. After `now` has given awake, C sees what came before the wake-up.
  state now() const noexcept {
    return static_cast<state>(word_.load(std::memory_order_acquire));
  }  // pairs with send, F
  void settle() noexcept { put(state::settling, std::memory_order_relaxed); }   // before the worker is in the idle set
  void stay_awake() noexcept { put(state::awake, std::memory_order_relaxed); }  // it is not in the idle set any more
  // From here on F may take the worker. Does nothing, and returns false, if a wake-up was sent meanwhile.
  bool fall_asleep() noexcept { return change(state::settling, state::asleep); }
  // Sleeps while the word is `seen`, until the deadline if that is not 0. May return early.
  void wait(state seen, platform::nanoseconds deadline = 0) noexcept {
    platform::wait_on(word_, static_cast<std::uint32_t>(seen), deadline);
  }
  // A timer is due. Returns false if F has taken the worker, or it is awake.
  [[nodiscard]] bool wake_for_timer() noexcept { return change(state::asleep, state::awake); }
  // [borrow:6]: a nap has ended with the word `seen`.
  void end_nap(state seen, bool something_is_queued) noexcept;

  // F.
  enum class taken : std::uint8_t { no, from_asleep, from_held };
  [[nodiscard]] taken take() noexcept;  // [borrow:1]
  // Gives the worker to C at once. After that the token and the worker may be gone.
  void return_awake() noexcept;
  // [borrow:5], [borrow:6]: gives the worker back, asleep or held, or awake if a wake-up was sent. After that the token
  // and the worker may be gone.
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
