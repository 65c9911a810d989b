// What kept a traced program from using its workers, in sentences: for somebody who wants to know what to change first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace {

enum class complaint : std::uint8_t {
  serial,       // one worker runs code, and nothing else could run
  outside,      // nobody runs anything: the program is outside of the runtime
  imbalance,    // workers wait for the longest part of something that others have finished
  small_tasks,  // making and handing on tasks costs much of what they do
  lock,         // threads wait for a lock
  asleep,       // workers are idle while threads sleep until a time
  waiting,      // no thread is ready: all wait for something else
  off_cpu,      // busy workers' kernel threads sleep in the kernel
  crowded,      // busy workers' kernel threads have no processor
};
inline constexpr std::string_view complaint_names[] = {"serial", "outside", "imbalance", "small_tasks", "lock",
                                                       "asleep", "waiting", "off_cpu",   "crowded"};

struct finding {
  complaint what = complaint::serial;
  double share = 0;          // of all workers' time, lost by it
  std::string text;          // a sentence or two
  std::uint16_t worker = 0;  // where to look: the longest stretch of it
  std::uint64_t begin_ns = 0, end_ns = 0;
};

// "sim.cpp:40" of an address, or "" if it is not known.
using line_finder = std::function<std::string(std::uint64_t address)>;

// The causes that lost at least a twentieth of the workers' time, the worst first; of a balanced program there are
// none. Algorithm: diagnosis.md.
[[nodiscard]] std::vector<finding> diagnose(const recording& what, const line_finder& line_of = {});

}  // namespace heddle::trace
