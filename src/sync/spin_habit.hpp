// Decides whether a thread that must wait makes some pauses before it suspends. Pauses pay if what it waits for runs on
// another worker and comes soon. They are in vain if the holder of a lock cannot run at all, because it waits, or is
// ready on the very worker whose thread makes the pauses. The two cases look alike from outside, so a worker learns
// from what its last pauses led to. It promises nothing but speed.
#pragma once

#include <cstdint>

namespace heddle::sync {

class spin_habit {
 public:
  static constexpr std::uint8_t most_in_vain = 4;  // this often in a row, before pauses are left out
  static constexpr std::uint8_t tried_again = 32;  // then the habit is tried one time in so many

  // Called when a thread is about to wait.
  [[nodiscard]] bool are_tried() noexcept { return in_vain_ < most_in_vain || ++left_out_ % tried_again == 0; }
  // Called after pauses, with whether the wait is over.
  void learn(bool paid) noexcept {
    if (paid) in_vain_ = 0;
    else if (in_vain_ < most_in_vain) ++in_vain_;
  }

 private:
  std::uint8_t in_vain_{0};   // in a row
  std::uint8_t left_out_{0};  // wraps around
};

}  // namespace heddle::sync
