// Variants of a shipped machine: one with smaller caches for smaller data, and one on which memory costs nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/scratch.hpp"

namespace heddle::cli::paper {

// Returns the value for --machine. With `shrink` all caches but the innermost, and the costs of the scheduler's
// operations, are divided by it. With `free_memory` every level and the memory have the innermost cache's latency, and
// no bandwidth limits. A variant that differs from the shipped file is written to `folder`. Throws
// std::invalid_argument for a machine that is not shipped, and std::runtime_error if a file cannot be written.
std::string machine_variant(const std::string& machine, unsigned shrink, bool free_memory,
                            const scratch_folder& folder);

// Returns the NUMA node of each worker if each unit of the machine has one, and otherwise an empty vector.
std::vector<int> nodes_of_workers(const std::string& machine, unsigned workers);

}  // namespace heddle::cli::paper
