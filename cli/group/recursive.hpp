// Groups of tasks for a machine: the tree of memory groups is followed from the root down, and each level's groups fit
// into its caches and have an order.
#pragma once

#include <heddle/machine.hpp>

#include "cli/group/sharing.hpp"
#include "policy/grouped/grouping.hpp"

namespace heddle::cli {

// Source: Yoo et al. (2013), as Chen and Guo (2017), section 4.3.7.2, describe it. docs/decisions/0014-metis.md says
// what the book leaves open, and what was decided.
policy::grouping::site group_tasks(const sharing_graph& tasks, const machine::view& machine, std::uint64_t line_bytes);

// How much of the tasks' shared data is shared within groups, by level of the machine.
struct group_quality {
  const char* level;    // name of the kind
  unsigned groups;      // of the machine at that level
  double within;        // the part of all shared lines, counted for each pair of tasks
  double within_dealt;  // the same if tasks were dealt out to workers in blocks, by their numbers
};
std::vector<group_quality> quality_of(const policy::grouping::site& site, const sharing_graph& tasks,
                                      const machine::view& machine);
// Returns the weight of the worker with the most, divided by the mean.
double imbalance_of(const policy::grouping::site& site, const sharing_graph& tasks);

}  // namespace heddle::cli
