// The functions of tick.cpp for ticks that come from other sources than the system's timers.
#pragma once

#include "platform/ticks.hpp"

namespace heddle::platform {

// Calls the handler that listen_for_ticks was given, and preserves errno.
void deliver_tick(void* owner, interrupted& what) noexcept;
bool on_alternate_stack() noexcept;

}  // namespace heddle::platform
