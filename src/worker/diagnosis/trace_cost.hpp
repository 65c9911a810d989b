// The cost of tracing every fork beyond the events themselves.
#pragma once

#include <cstdint>

namespace heddle::worker {

// Returns how many nanoseconds more a fork and its join take on the slow paths that trace_forks sends them through than
// on the usual ones: for `heddle dag` to subtract. Measured on a queue of its own; the measurement takes about 20 us.
// Returns 0 on a platform with virtual time.
std::uint64_t cost_of_traced_fork() noexcept;

}  // namespace heddle::worker
