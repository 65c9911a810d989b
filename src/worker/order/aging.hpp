// When a worker gives a time slice to a thread that has been ready for long, whatever is above it, and for how long
// that time slice is protected: [aging:1] to [aging:5] of priorities.md. Owns the times, all of them in
// platform::cycles. The thread itself is chosen elsewhere (`worker::pick_starved`). An object of this class is the
// worker's own. Promise: at most one such time slice begins in each `longest_wait`.
#pragma once

#include <cstdint>
#include <utility>

#include "platform/platform.hpp"

namespace heddle::worker {

class aging {
 public:
  // The worker chooses among threads of the normal level.
  void normal_has_its_turn() noexcept { normal_had_its_turn_ = true; }
  // A look at the clock. Returns true if it is time for a thread that has waited for longer than `longest_wait`.
  [[nodiscard]] bool is_due(std::uint64_t now, std::uint64_t longest_wait) noexcept {
    if (std::exchange(normal_had_its_turn_, false) || normal_since_ == 0) normal_since_ = now;
    return now >= next_ && now >= longest_wait;
  }
  // Returns true if the normal level has waited for as long: it has its time slice then.
  [[nodiscard]] bool takes_normal(std::uint64_t now, std::uint64_t longest_wait) noexcept {
    if (now - normal_since_ <= longest_wait) return false;
    normal_since_ = now;
    return true;
  }
  // Such a time slice begins; the next one begins not before `next`. It is protected until `protected_until`. 0 means
  // that it keeps nothing from running that otherwise would.
  void begin_turn(std::uint64_t next, std::uint64_t protected_until) noexcept {
    next_ = next;
    if (protected_until != 0) protected_until_ = protected_until;
  }
  // True while a thread runs here although something above it is ready, because it had waited for long: [aging:4].
  bool protects_turn() const noexcept { return protected_until_ != 0 && platform::cycles() < protected_until_; }
  void end_turn() noexcept { protected_until_ = 0; }
  // The chosen thread goes back: its time slice is still to come.
  void take_turn_back() noexcept {
    if (std::exchange(protected_until_, 0) != 0) next_ = 0;
  }

 private:
  // A thread that has waited for long does not come first again before this time.
  std::uint64_t next_{0};
  std::uint64_t normal_since_{0};    // when the worker last chose among threads of the normal level
  bool normal_had_its_turn_{false};  // that was since the last look at the clock
  // The time until which a thread is protected that came first because it had waited for long; 0 if there is none.
  std::uint64_t protected_until_{0};
};

}  // namespace heddle::worker
