// Trace files by name.
#pragma once

#include <string>

#include "trace/recording.hpp"

namespace heddle::trace {

// Writes the recording: NAME.heddle in the binary format, NAME.json in Chrome's. Throws trace_error for another ending
// (the message names the two endings) and if the file cannot be written.
void save(const recording& what, const std::string& path);

// Reads a binary trace. Throws trace_error with one line that names the file and the remedy.
[[nodiscard]] recording load(const std::string& path);

// Returns true for a name that save accepts. It is for checking options before a long run.
[[nodiscard]] bool is_trace_name(const std::string& path);

}  // namespace heddle::trace
