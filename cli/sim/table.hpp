// The figures of simulated runs, for people.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace heddle::cli {

// Whether a run's misses say anything: an unannotated program, and one that told no access, went through no cache.
bool caches_modelled(const nlohmann::json& row);

// A line for each row of `heddle sim --json`. Says first that no caches were modelled, where they were in no row, and
// has no columns of misses and bytes then.
void print_table(const std::vector<nlohmann::json>& rows);

}  // namespace heddle::cli
