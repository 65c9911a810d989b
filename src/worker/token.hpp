// The word on which a worker's carrier sleeps, which also says who acts for the worker, or may begin to. Transitions:
// worker::sleep, wait_for_token, sleepers::send_token, lending.cpp; the table in lending.md.
#pragma once

#include <cstdint>

namespace heddle::worker {

struct token_state {
  static constexpr std::uint32_t awake = 0;     // its carrier
  static constexpr std::uint32_t settling = 1;  // its carrier, which looks once more before it sleeps
  static constexpr std::uint32_t asleep = 2;    // nobody; whoever changes this
  static constexpr std::uint32_t lent = 3;      // a foreign kernel thread, since the worker was asleep
  // nobody; a foreign kernel thread is expected back, and the carrier naps
  static constexpr std::uint32_t held = 4;
  static constexpr std::uint32_t stale = 5;       // the same, and the carrier has found it held at the end of a nap
  static constexpr std::uint32_t lent_again = 6;  // a foreign kernel thread, since the worker was held
  static constexpr std::uint32_t wanted = 7;      // a foreign kernel thread, which is to wake the carrier afterwards
  static constexpr bool is_lent(std::uint32_t s) noexcept { return s == lent || s == lent_again || s == wanted; }
};

}  // namespace heddle::worker
