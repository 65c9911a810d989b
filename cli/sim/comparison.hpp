// Policies side by side: the same program under each, several times, with the same seeds and placements.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/interval.hpp"

namespace heddle::cli {

// A policy compared with the first one: the times of the first divided by its own, run by run.
struct compared {
  std::string policy;
  interval time;    // s, of a whole run
  interval faster;  // above 1 means faster than the first
};

// Takes rows with policy, seed and virtual_seconds; the times of a run with several processes are added up. A run of a
// policy and the run of the first policy with the same seed are a pair. Policies are in order of appearance; the first
// one's own ratio is 1.
std::vector<compared> compare(const std::vector<nlohmann::json>& rows);

// Returns "faster" or "slower", or "undecided" if the interval holds 1 or there is none.
const char* decision(const compared& c);

// Returns the comparison's table, and says what its interval is. Returns nothing for a single policy.
std::string comparison_table(const std::vector<nlohmann::json>& rows);

// Returns for each policy, in their order, the run with the median time.
std::vector<nlohmann::json> middle_runs(const std::vector<nlohmann::json>& rows);

}  // namespace heddle::cli
