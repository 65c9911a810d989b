// The second part of `heddle demo`: parallel code that calls parallel code.
#pragma once

#include <string>
#include <vector>

namespace heddle::cli::demo {

// Loops within a loop (bench/nested) on one runtime.
struct nested_contender {
  std::string runtime;
  std::string program;               // heddle-nested-<runtime>
  std::vector<double> milliseconds;  // with the runtime's own settings
  std::vector<double> open;          // with OpenMP: nested regions allowed to be parallel; otherwise empty
};

// Runs each runtime in `repeat` rounds, with `workers` workers. Throws std::runtime_error if a program fails or gives
// another result than the first one.
void run_nested(std::vector<nested_contender>& all, unsigned workers, unsigned repeat);
// Returns the table for people.
std::string nested_table(const std::vector<nested_contender>& all, unsigned workers);

}  // namespace heddle::cli::demo
