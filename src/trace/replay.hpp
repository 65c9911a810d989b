// The replay of a recording: it goes through the events in the order of time and turns them into spans that nest on
// every worker.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace {

struct open_span {
  span kind = span::none;
  std::uint64_t since = 0;  // the time when it was opened here
  // The event that opened it. Null for a worker span whose beginning was lost.
  const record* by = nullptr;
  // True if it was opened before, on this worker or another one, and its thread carried it here.
  bool resumed = false;
};

// The interface through which replay reports. For one record it reports the event first, then the spans that the event
// closes (innermost first), then those that it opens.
class replay_visitor {
 public:
  virtual ~replay_visitor() = default;
  virtual void event(const record&) {}
  virtual void opened(std::uint16_t /*worker*/, const open_span&, std::uint64_t /*ns*/) {}
  // `counts_as` is the activity of the time since this worker's last opening or closing.
  virtual void closed(std::uint16_t /*worker*/, const open_span&, std::uint64_t /*ns*/, activity /*counts_as*/) {}
  // Called when an event closes a span whose opening is not in the recording.
  virtual void stray(const record&) {}
};

// Records of foreign threads are only reported as events. Worker spans without an end last until recording::end_ns.
// Records must be ordered by time within each worker, as collect and files give them.
void replay(const recording& what, replay_visitor& visitor);

}  // namespace heddle::trace
