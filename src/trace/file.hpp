// Trace files by name.
#pragma once

#include <string>

#include "trace/recording.hpp"

namespace heddle::trace {

// Writes the recording: NAME.heddle in the binary format, NAME.json in Chrome's. Throws trace_error
// for another ending (with the two that exist) and when the file cannot be written.
void save(const recording& what, const std::string& path);

// Reads a binary trace. Throws trace_error: one line that names the file and what to do.
[[nodiscard]] recording load(const std::string& path);

// Is this a name that save accepts? For checking options before a long run.
[[nodiscard]] bool is_trace_name(const std::string& path);

}  // namespace heddle::trace
