// OpenMP runtimes that Python packages bring along, each under a name of its own.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/run/survey.hpp"

namespace heddle::cli {

// Returns the runtimes of the packages that this interpreter finds, without those that PYTHONPATH adds. Looks at the
// folders where wheels keep foreign libraries.
std::vector<openmp_library> runtimes_in_wheels(const std::filesystem::path& interpreter);

}  // namespace heddle::cli
