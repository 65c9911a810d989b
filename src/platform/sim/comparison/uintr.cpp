// Simulated ticks are not sent by any processor. There is one kind of them, and the machine file gives its cost.
#include "platform/comparison.hpp"

namespace heddle::platform {

const tick_source& user_interrupts() noexcept {
  static constexpr tick_source none{
      .why_not = []() noexcept { return "the machine is simulated"; },
      .make = [](tick_timer&, void*) noexcept { return "the machine is simulated"; },
      .set = [](const tick_timer&, nanoseconds, nanoseconds) noexcept {},
      .drop = [](const tick_timer&) noexcept {},
      .let_in = []() noexcept {},
      .hold = []() noexcept {},
  };
  return none;
}

}  // namespace heddle::platform
