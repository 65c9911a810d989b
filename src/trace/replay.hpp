// Runs through a recording in the order of time and turns its events into spans that nest on every
// worker.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace {

struct open_span {
  span kind = span::none;
  std::uint64_t since = 0;     // when it was opened here
  const record* by = nullptr;  // the event that opened it; null for a worker span whose beginning was lost
  bool resumed = false;        // opened before, on this worker or another, and carried here by its thread
};

// What replay tells. For one record: event first, then the spans it closes (innermost first), then
// those it opens.
class replay_visitor {
 public:
  virtual ~replay_visitor() = default;
  virtual void event(const record&) {}
  virtual void opened(std::uint16_t /*worker*/, const open_span&, std::uint64_t /*ns*/) {}
  // `counts_as`: what the time since this worker's last opening or closing was.
  virtual void closed(std::uint16_t /*worker*/, const open_span&, std::uint64_t /*ns*/, activity /*counts_as*/) {}
  // An event closes a span whose opening is not in the recording.
  virtual void stray(const record&) {}
};

// Foreign threads' records are only told as events. Worker spans without an end last until
// recording::end_ns. Records must be by time within each worker, as collect and files give them.
void replay(const recording& what, replay_visitor& visitor);

}  // namespace heddle::trace
