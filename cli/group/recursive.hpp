// Groups of tasks for a machine: its tree of memory groups from the root down, each level's groups fitting into its
// caches and standing in an order.
#pragma once

#include <heddle/machine.hpp>

#include "cli/group/sharing.hpp"
#include "policy/grouped/grouping.hpp"

namespace heddle::cli {

// Source: Yoo et al. (2013), as Chen and Guo (2017), section 4.3.7.2, describe it. What the book leaves open, and what
// was decided: docs/decisions/0014-metis.md.
policy::grouping::site group_tasks(const sharing_graph& tasks, const machine::view& machine, std::uint64_t line_bytes);

// How much of what tasks share is shared within groups, by level of the machine.
struct group_quality {
  const char* level;    // name of the kind
  unsigned groups;      // of the machine at that level
  double within;        // part of all shared lines, counted for each pair of tasks
  double within_dealt;  // the same if tasks were dealt out to workers in blocks, by their numbers
};
std::vector<group_quality> quality_of(const policy::grouping::site& site, const sharing_graph& tasks,
                                      const machine::view& machine);
// Weight of the worker with the most over the mean.
double imbalance_of(const policy::grouping::site& site, const sharing_graph& tasks);

}  // namespace heddle::cli
