// What kernel threads have used: processor time, and what counters of the processor or of the model say. A part of the
// seam: platform.hpp.
#pragma once

#include <cstdint>

#include <heddle/task_usage.hpp>

#include "platform/clock.hpp"

namespace heddle::platform {

// What the calling kernel thread has used since some start of its own. Figures that are not known are none.
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

// The counters of one kernel thread. Opened and closed by that one; read by it alone.
struct usage_counters {
  static constexpr unsigned most = 5;
  int descriptor[most] = {-1, -1, -1, -1, -1};  // of the events that are counted; the first one is read for all
  std::uint8_t counts[most]{};                  // which figure each event is for
  unsigned opened{0};
};
// Where there are no counters, or the system refuses them, all stay none but the processor time.
void open_counters(usage_counters& out, const policy::usage_figures& wanted) noexcept;
void close_counters(usage_counters& of) noexcept;
// Async-signal-safe. `counters`: as they were opened, or without any: of a kernel thread that was not started here.
usage_reading read_usage(const usage_counters& counters, const policy::usage_figures& wanted) noexcept;

// Processor time of another kernel thread of the process, by its kernel_thread_id(); 0: there is no such thread.
nanoseconds processor_time_of(int kernel_thread) noexcept;

}  // namespace heddle::platform
