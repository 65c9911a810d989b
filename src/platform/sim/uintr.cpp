// Simulated ticks are not sent by any processor: there is one kind of them, and the machine file says what it costs.
#include "platform/platform.hpp"

namespace heddle::platform {

const char* why_no_user_interrupts() noexcept { return "the machine is simulated"; }
bool make_by_user_interrupt(tick_timer&, void*) noexcept { return false; }

}  // namespace heddle::platform
