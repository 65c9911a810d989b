// The figures of simulated runs, for people.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace heddle::cli {

// Returns true if a run's misses say anything. An unannotated program, and one that declared no access, used no
// modelled cache.
bool caches_modelled(const nlohmann::json& row);

// Prints a line for each row of `heddle sim --json`. If no row has modelled caches, it says so first, and has no
// columns of misses and bytes.
void print_table(const std::vector<nlohmann::json>& rows);

}  // namespace heddle::cli
