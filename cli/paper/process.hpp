// Runs of the command by itself, and their output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "process/run.hpp"

namespace heddle::cli::paper {

// Splits at blanks.
std::vector<std::string> words_of(std::string_view command);

// Runs a program on this machine. Its output is dropped, its errors are kept. `trace` becomes HEDDLE_TRACE unless it is
// empty. Throws what process::run throws.
process::ended run_here(const std::vector<std::string>& words, const std::string& trace);

// Returns the last line of a program's message about its failure, without a "heddle bench: " before it.
std::string last_line(const std::string& errors, int status);

}  // namespace heddle::cli::paper
