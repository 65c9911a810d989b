// The plan of workers: their number, and where each runs.
#pragma once

#include <string>
#include <vector>

#include "base/options.hpp"
#include "machine/limits.hpp"
#include "machine/topology.hpp"

namespace heddle::machine {

struct worker_plan {
  std::vector<int> units;  // by rank: the processing unit, for topology::for_workers and, with bind, for binding
  bool bind{false};        // true if each worker is kept on its unit
  // True if there are more workers than units, or than the quota's processors, so that not all can run at once.
  bool crowded{false};
  std::string reason;  // the reason for the number, in one line
};

// The number of workers is `workers` of the options, or else min(usable units, quota rounded up), and at least 1. The
// usable units are those of the mask that the machine has. (If the machine is a model, or if the mask is unknown, all
// units of the machine are usable.) With smt off one unit of each core is usable. If there are fewer workers than
// units, they first take one unit of each core, fast cores before slow ones. If there are more workers than units, they
// share the units evenly. Ranks follow the tree: neighbours in rank share the innermost caches possible.
// With `bind` auto workers are bound only if each usable unit (with smt off: each core) has exactly one worker and no
// quota reduces their number.
worker_plan plan(const topology& machine, const limits& allowed, const base::option_values& options);

}  // namespace heddle::machine
