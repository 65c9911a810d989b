// How many workers there are and where each runs.
#pragma once

#include <string>
#include <vector>

#include "base/options.hpp"
#include "machine/limits.hpp"
#include "machine/topology.hpp"

namespace heddle::machine {

struct worker_plan {
  std::vector<int> units;  // by rank: the processing unit, for topology::for_workers and, with bind, for binding
  bool bind{false};        // keep each worker on its unit
  bool crowded{false};     // more workers than units, or than the quota's processors: they cannot all run at once
  std::string reason;      // what decided the number, one line
};

// Number: `workers` of the options, else min(usable units, quota rounded up), at least 1. Usable are the units of the
// mask that the machine has (all of the machine if it is a model, or the mask is unknown); with smt off one of each
// core. Fewer workers than units take first one unit of each core, fast cores before slow ones. More workers than units
// share them evenly. Ranks follow the tree: neighbours in rank share the innermost caches possible.
// bind auto: only if each usable unit (with smt off: each core) has exactly one worker and no quota cuts them.
worker_plan plan(const topology& machine, const limits& allowed, const base::option_values& options);

}  // namespace heddle::machine
