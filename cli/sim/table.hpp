// The figures of simulated runs, for people.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace heddle::cli {

// A line for each row of `heddle sim --json`.
void print_table(const std::vector<nlohmann::json>& rows);

}  // namespace heddle::cli
