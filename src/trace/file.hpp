// Trace files by name; tools/trace/reading.hpp reads them.
#pragma once

#include <string>

#include "trace/recording.hpp"

namespace heddle::trace {

// Writes the recording: NAME.heddle in the binary format, NAME.json in Chrome's. Throws trace_error
// for another ending (with the two that exist) and when the file cannot be written.
void save(const recording& what, const std::string& path);

// Is this a name that save accepts? For checking options before a long run.
[[nodiscard]] bool is_trace_name(const std::string& path);

}  // namespace heddle::trace
