// When a worker gives a turn to a thread that has been ready for long, whatever is above it, and for how long that turn
// is its own: [aging:1] to [aging:5] of priorities.md. Owns the times, all of them in platform::cycles; which thread it
// is, is chosen elsewhere (`worker::pick_starved`). The worker's own. Promise: no more than one such turn in so many.
#pragma once

#include <cstdint>
#include <utility>

#include "platform/platform.hpp"

namespace heddle::worker {

class aging {
 public:
  // The worker chooses among what is of the normal level.
  void normal_has_its_turn() noexcept { normal_had_its_turn_ = true; }
  // A look at the clock: it is time for a thread that has waited for longer than `longest_wait`.
  [[nodiscard]] bool is_due(std::uint64_t now, std::uint64_t longest_wait) noexcept {
    if (std::exchange(normal_had_its_turn_, false) || normal_since_ == 0) normal_since_ = now;
    return now >= next_ && now >= longest_wait;
  }
  // What is of the normal level has waited for as long: it has its turn now.
  [[nodiscard]] bool takes_normal(std::uint64_t now, std::uint64_t longest_wait) noexcept {
    if (now - normal_since_ <= longest_wait) return false;
    normal_since_ = now;
    return true;
  }
  // Such a turn begins, and the next one not before `longest_wait` is over. It lasts until `protected_until`; 0: it
  // keeps nothing from running that would.
  void begin_turn(std::uint64_t next, std::uint64_t protected_until) noexcept {
    next_ = next;
    if (protected_until != 0) protected_until_ = protected_until;
  }
  // What runs here has a turn although something above it is ready, because it had waited for long: [aging:4].
  bool protects_turn() const noexcept { return protected_until_ != 0 && platform::cycles() < protected_until_; }
  void end_turn() noexcept { protected_until_ = 0; }
  // What was chosen goes back: its turn is still to come.
  void take_turn_back() noexcept {
    if (std::exchange(protected_until_, 0) != 0) next_ = 0;
  }

 private:
  std::uint64_t next_{0};             // not earlier than then a thread that has waited for long comes first again
  std::uint64_t normal_since_{0};     // when it last chose among what is of the normal level
  bool normal_had_its_turn_{false};   // that was since the last look at the clock
  std::uint64_t protected_until_{0};  // the turn of a thread that came first because it had waited for long; 0: none
};

}  // namespace heddle::worker
