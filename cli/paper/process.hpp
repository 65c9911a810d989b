// Runs of the command by itself, and what they write.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli::paper {

struct ended {
  int status{0};       // exit status, or 128 + signal
  std::string errors;  // standard error
};

// This command's file.
std::string own_command();
// Split at blanks.
std::vector<std::string> words_of(std::string_view command);

// Runs a program on this machine to its end, or this command's: then the program ends first,
// and cli::interrupted is thrown. Its output is dropped. `trace`: HEDDLE_TRACE for it,
// unless empty. Throws std::system_error, where the program cannot be run with its name.
ended run_here(const std::vector<std::string>& words, const std::string& trace);

// The last line of what a program said of its failure, without a "heddle bench: " before it.
std::string last_line(const std::string& errors, int status);

}  // namespace heddle::cli::paper
