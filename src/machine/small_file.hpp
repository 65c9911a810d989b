// Reading the small files in which the kernel describes the machine. A stream of the C++ library would cost more than
// the rest of it, and the pages of the library's code.
#pragma once

#include <optional>
#include <string>

namespace heddle::machine {

// Returns the file's text, or nothing if it cannot be opened.
std::optional<std::string> read_small_file(const std::string& file);
// The same for the first line, without its end. It is cheaper, because the kernel is asked only once.
std::optional<std::string> read_first_line(const std::string& file);

}  // namespace heddle::machine
