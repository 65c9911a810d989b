// What can take the place of the usual ticks and sleeps, for comparison only: linux/comparison/README.md. A part of the
// seam that platform.hpp does not include.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/ticks.hpp"

namespace heddle::platform {

// Ticks that come without the kernel (Intel's user interrupts).
const tick_source& user_interrupts() noexcept;

// wait_on by means of POSIX: sigsuspend, ended by a tick.
void wait_for_tick(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

}  // namespace heddle::platform
