// What tracing every fork costs beyond the events themselves.
#pragma once

#include <cstdint>

namespace heddle::worker {

// Nanoseconds that a fork and its join take on the slow paths that trace_forks sends
// them through, less what they take else: for `heddle dag` to subtract. Measured on
// a queue of its own; about 20 us of time. 0 on a platform with virtual time.
std::uint64_t cost_of_traced_fork() noexcept;

}  // namespace heddle::worker
