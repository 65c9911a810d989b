// Policies side by side: the same program under each, several times, with the same seeds and placements.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/interval.hpp"

namespace heddle::cli {

// Of a policy over the first one: times of the first over its own, run by run.
struct compared {
  std::string policy;
  interval time;    // s, of a whole run
  interval faster;  // above 1: faster than the first
};

// Rows with policy, seed and virtual_seconds; of a run with several processes the times are added up. Runs of a policy
// and of the first one with the same seed are a pair. Policies in order of appearance; the first one's own ratio is 1.
std::vector<compared> compare(const std::vector<nlohmann::json>& rows);

// "faster", "slower", or "undecided": the interval holds 1, or there is none.
const char* decision(const compared& c);

// The table of them, and what its interval is. Nothing for a single policy.
std::string comparison_table(const std::vector<nlohmann::json>& rows);

// Of several runs of each policy that whose time is the middle one, in the order of policies.
std::vector<nlohmann::json> middle_runs(const std::vector<nlohmann::json>& rows);

}  // namespace heddle::cli
