// Lines of the source for addresses in a trace, from the debugging information of the traced program.
#pragma once

#include <string>
#include <string_view>

#include "tools/trace/diagnosis.hpp"
#include "trace/recording.hpp"

namespace heddle::cli {

// Asks addr2line, if it is installed, about the recording's files, as long as they are in their old places. Returns ""
// for an address that it does not know. `of` must outlive the result.
[[nodiscard]] trace::line_finder source_lines(const trace::recording& of);

// Returns the first place in the user's own files, as "file.cpp:12", in what `addr2line -a -i -f` says of addresses
// that follow each other. Looks no further than the function that has the first address. Frames of heddle's headers and
// of the standard library's, which are inlined there, are passed over. Returns "" if there is none.
[[nodiscard]] std::string users_place(std::string_view said);

}  // namespace heddle::cli
