// User interrupts (Intel SDM volume 3, chapter 7): ticks that do not go through the kernel. Written against the system
// calls of Intel's patches (docs/papers.md), which no released Linux has; not tested on hardware.
#pragma once

#include "platform/ticks.hpp"

namespace heddle::platform {

// The missing parts, in words; null if nothing is missing. `kernel_told` says whether the list of the kernel's
// functions could be read.
const char* missing_for_user_interrupts(bool processor, bool kernel_told, bool kernel) noexcept;

// Reads bit 5 of EDX of CPUID leaf 7, sub-leaf 0.
bool processor_has_user_interrupts() noexcept;
// Whether the list of functions, in the form of /proc/kallsyms, has
// the system calls; `told` becomes false if it cannot be read.
bool kernel_has_user_interrupts(const char* list, bool& told) noexcept;

// Ticks that come without the kernel.
const tick_source& user_interrupts() noexcept;

}  // namespace heddle::platform
