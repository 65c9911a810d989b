// The source of a topology before workers are placed: sets of processing units. This header is for src/machine only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/topology.hpp"

namespace heddle::machine {

// Units are in the order of the tree, so every set is an interval of it: hwloc's objects nest, and NUMA nodes are
// attached to such objects.
struct topology_set {
  group_kind kind;
  std::uint64_t capacity;
  unsigned line_size;
  int associativity;
  unsigned first, last;  // units [first, last)
};

// Returns the sets that are caches, in the order of topology::caches().
std::vector<cache_info> caches_of(const std::vector<topology_set>& sets);

// Returns the machine that the files below root/sys describe, or null if they leave something to hwloc.
std::optional<topology> from_kernel_files(const std::string& root);
// The same of this machine, unless hwloc is to be asked for another reason.
std::optional<topology> this_machine_without_hwloc();
// Returns this machine as hwloc sees it. Throws as topology::this_machine does.
topology this_machine_by_hwloc();

// The builder of a topology's tree; it is a friend of topology.
class tree_builder {
 public:
  // Makes the topology of a whole machine. `sets` may be in any order.
  static topology whole(std::string name, bool this_machine, std::uint64_t memory_bytes, unsigned kinds,
                        std::vector<processing_unit> units, std::vector<topology_set> sets);
  // Replaces the tree by one with the same workers, after units or sets have changed.
  static void place_again(topology& on);
  // Replaces the tree by one with a worker on each unit of `workers`. `positions` are the units' places in the order of
  // the tree.
  static void place(topology& on, std::vector<processing_unit> workers, const std::vector<unsigned>& positions);
};

}  // namespace heddle::machine
