// The functions of tick.cpp for ticks that come from other sources than the system's timers.
#pragma once

#include "platform/ticks.hpp"

namespace heddle::platform {

// Calls the handler that listen_for_ticks was given, and preserves errno.
void deliver_tick(void* owner, interrupted& what) noexcept;
bool on_alternate_stack() noexcept;
// The owner of a timer whose ticks are only counted, because their cost is measured.
struct alignas(8) counted_ticks {
  std::atomic<unsigned> count{0};
};
inline constinit counted_ticks measured_ticks;

}  // namespace heddle::platform
