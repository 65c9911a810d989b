// Lines of the source for addresses in a trace, from the debugging information of the traced program.
#pragma once

#include "trace/diagnosis.hpp"
#include "trace/recording.hpp"

namespace heddle::cli {

// Asks addr2line, if it is installed, about the recording's files, as long as they are in their old places. Returns ""
// for an address that it does not know. `of` must outlive the result.
[[nodiscard]] trace::line_finder source_lines(const trace::recording& of);

}  // namespace heddle::cli
