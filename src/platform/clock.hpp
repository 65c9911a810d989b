// Clocks, and the processor time that was used. This header is a part of the platform seam (platform.hpp).
#pragma once

#include <cstdint>

namespace heddle::platform {

using nanoseconds = std::uint64_t;

// Time since an arbitrary start, monotonic.
nanoseconds now() noexcept;

// A coarse counter for choosing between spinning and sleeping: cheaper than now(), and in a unit of its own, of which
// there are cycles_per_microsecond().
std::uint64_t cycles() noexcept;
std::uint64_t cycles_per_microsecond() noexcept;

#if !defined(HEDDLE_SIM)
// The resources that the calling kernel thread has used so far. used_so_far is async-signal-safe.
struct usage {
  nanoseconds cpu;
  std::uint32_t sleeps;  // how often it gave its processor up by itself
};
usage used_so_far() noexcept;
#endif

// Returns the CPU time of the whole process, user and system.
nanoseconds process_cpu_time() noexcept;

}  // namespace heddle::platform
