// Reads what src/trace/file.hpp writes.
#pragma once

#include <string>
#include <string_view>

#include "trace/recording.hpp"

namespace heddle::trace {

// Reads a binary trace. Throws trace_error with one line that names the file and the remedy.
[[nodiscard]] recording load(const std::string& path);

// Throws trace_error (without a file name) for anything that is not a complete, intact trace of the format version of
// src/trace/binary.hpp or an older one.
[[nodiscard]] recording decode_binary(std::string_view bytes);

}  // namespace heddle::trace
