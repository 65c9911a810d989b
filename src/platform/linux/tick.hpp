// The functions of tick.cpp for ticks that come from other sources than the system's timers.
#pragma once

#include "platform/ticks.hpp"

namespace heddle::platform {

// Calls the handler that listen_for_ticks was given, and preserves errno.
void deliver_tick(void* owner, interrupted& what) noexcept;
bool on_alternate_stack() noexcept;
// The signal by which ticks come; 0 if there is none yet.
int signal_of_ticks() noexcept;

}  // namespace heddle::platform
