// Runs of the command by itself, and what they write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "process/run.hpp"

namespace heddle::cli::paper {

// Split at blanks.
std::vector<std::string> words_of(std::string_view command);

// Runs a program on this machine. Its output is dropped, its errors are kept. `trace`: HEDDLE_TRACE for it, unless
// empty. Throws as process::run does.
process::ended run_here(const std::vector<std::string>& words, const std::string& trace);

// The last line of what a program said of its failure, without a "heddle bench: " before it.
std::string last_line(const std::string& errors, int status);

}  // namespace heddle::cli::paper
