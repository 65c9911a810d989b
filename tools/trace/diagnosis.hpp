// The causes that kept a traced program from using its workers, in sentences, for users who want to know what to change
// first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace {

enum class complaint : std::uint8_t {
  serial,   // one worker runs code, and nothing else could run
  outside,  // no worker runs anything: the program is outside the runtime
  // Workers wait for the longest part of something that others have finished.
  imbalance,
  small_tasks,  // the cost of making and handing on tasks is a large part of their work
  lock,         // threads wait for a lock
  asleep,       // workers are idle while threads sleep until a time
  waiting,      // no thread is ready, because all wait for something else
  off_cpu,      // busy workers' kernel threads sleep in the kernel
  crowded,      // busy workers' kernel threads have no processor
};
inline constexpr std::string_view complaint_names[] = {"serial", "outside", "imbalance", "small_tasks", "lock",
                                                       "asleep", "waiting", "off_cpu",   "crowded"};

struct finding {
  complaint what = complaint::serial;
  double share = 0;  // of all workers' time that was lost by it
  std::string text;  // a sentence or two
  // The worker with the longest stretch of it, as a place to look.
  std::uint16_t worker = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;
};

// Returns "sim.cpp:40" for an address, or "" if it is not known.
using line_finder = std::function<std::string(std::uint64_t address)>;

// Returns the causes that lost at least a twentieth of the workers' time, the worst first, and a crowded machine after
// the program's own. A balanced program has none.
// Algorithm: diagnosis.md.
[[nodiscard]] std::vector<finding> diagnose(const recording& what, const line_finder& line_of = {});

}  // namespace heddle::trace
