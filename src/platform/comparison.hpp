// Replacements of the usual ticks and sleeps, for comparison only: linux/comparison/README.md. This header is a part of
// the platform seam, but platform.hpp does not include it.
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
