// The resources that kernel threads have used: processor time, and the figures of counters of the processor or of the
// model. This header is a part of the platform seam (platform.hpp).
#pragma once

#include <cstdint>

#include <heddle/task_usage.hpp>

#include "platform/clock.hpp"

namespace heddle::platform {

// The resources that the calling kernel thread has used since an arbitrary start of its own. A figure that is not known
// has the source `none`.
struct usage_reading {
  enum figure : unsigned {
    processor_time,
    instructions,
    private_misses,
    shared_misses,
    local_accesses,
    remote_accesses
  };
  static constexpr unsigned count = 6;
  std::uint64_t value[count]{};
  policy::source from[count]{};
};

// The counters of one kernel thread, which alone opens, reads and closes them.
struct usage_counters {
  static constexpr unsigned most = 5;
  int descriptor[most] = {-1, -1, -1, -1, -1};  // one for each counted event; a read of the first gives all
  std::uint8_t counts[most]{};                  // which figure each event is for
  unsigned opened{0};
};
// Where there are no counters, or the system refuses them, all figures but the processor time stay `none`.
void open_counters(usage_counters& out, const policy::usage_figures& wanted) noexcept;
void close_counters(usage_counters& of) noexcept;
// Reads the calling kernel thread's counters; a kernel thread that was not started here passes counters that were never
// opened. The call is async-signal-safe.
usage_reading read_usage(const usage_counters& counters, const policy::usage_figures& wanted) noexcept;

// Returns the processor time of another kernel thread of the process, given by its kernel_thread_id(), or 0 if there is
// no such kernel thread.
nanoseconds processor_time_of(int kernel_thread) noexcept;
// Returns true if another kernel thread of the process sleeps in a system call or a page fault. False if the system
// does not tell.
bool sleeps_in_system_call(int kernel_thread) noexcept;

}  // namespace heddle::platform
