// Variants of a shipped machine: smaller caches for smaller data, and one on which memory costs nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/scratch.hpp"

namespace heddle::cli::paper {

// What to give to --machine. `shrink`: all caches but the innermost, and the costs of the scheduler's operations, are
// divided by it. `free_memory`: every level and the memory have the innermost cache's latency, and no bandwidth limits.
// Written to `folder`, where it differs from the shipped file. Throws std::invalid_argument for a machine that is not
// shipped, std::runtime_error when a file cannot be written.
std::string machine_variant(const std::string& machine, unsigned shrink, bool free_memory,
                            const scratch_folder& folder);

// The NUMA node of each worker, where each unit of the machine has one; empty otherwise.
std::vector<int> nodes_of_workers(const std::string& machine, unsigned workers);

}  // namespace heddle::cli::paper
