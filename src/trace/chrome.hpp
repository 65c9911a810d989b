// The Chrome trace event format, read by Perfetto (ui.perfetto.dev) and chrome://tracing.
#pragma once

#include <string>

#include "trace/recording.hpp"

namespace heddle::trace {

// Writes one track for each worker, with a slice for each span, instants for the other events, arrows for steals (from
// the victim's track) and for wake-ups of threads (to the place where they go on), and an asynchronous slice for each
// blocking call. Times start at the first event. Format: "Trace Event Format" (Chromium project).
[[nodiscard]] std::string to_chrome(const recording& what);

}  // namespace heddle::trace
