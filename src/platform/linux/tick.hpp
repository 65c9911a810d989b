// What tick.cpp has for ticks that other sources than the system's timers bring.
#pragma once

#include "platform/ticks.hpp"

namespace heddle::platform {

// The handler that listen_for_ticks was given, with errno kept.
void deliver_tick(void* owner, interrupted& what) noexcept;
bool on_alternate_stack() noexcept;

}  // namespace heddle::platform
