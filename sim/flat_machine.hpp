// Machines without names, files and defaults, for checks of the memory model.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "machine/model.hpp"

namespace heddle::sim {

struct cache_form {
  machine::group_kind level;
  std::uint64_t bytes;
  int ways;  // -1 means fully associative
  unsigned line{64};
};

// A machine from hwloc's synthetic notation, with its caches replaced. It has no latencies, and one node without limits
// for each NUMA node of the tree. Pages have 4 KB, and there is no overlap.
machine::model bare_machine(const std::string& synthetic, std::span<const cache_form> caches);

// Two units with a first-level cache each and a common last level, as in cachegrind's machine: unit 0 makes the
// accesses to data, unit 1 fetches instructions. Pages have 1 GB, so that sets are chosen by the program's own
// addresses. The levels are l1 and l2.
machine::model two_level_machine(cache_form first, cache_form last);

}  // namespace heddle::sim
