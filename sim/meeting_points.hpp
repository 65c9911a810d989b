// The cost of getting a line out of another core's caches, by the place where the two paths to memory meet.
#pragma once

#include <vector>

#include "machine/model.hpp"
#include "sim/cache_tree.hpp"
#include "sim/memory_nodes.hpp"

namespace heddle::sim {

// A place is a level of caches that both share; or else the node to which both belong; or the link between their nodes.
class meeting_points {
 public:
  using place = machine::coherence_costs;

  meeting_points(const machine::model& machine, const cache_tree& caches, const memory_nodes& memory);

  const place& of(unsigned path, unsigned other) const noexcept {
    const unsigned apart = caches_.apart(path, other);
    const cache_path& way = caches_.paths()[other];
    if (apart < way.depth) return of_levels_[way.steps[apart].level];
    return of_nodes_[std::size_t{node_of(other)} * nodes_ + node_of(path)];
  }
  unsigned node_of(unsigned path) const noexcept { return node_of_path_[path]; }

 private:
  const cache_tree& caches_;
  unsigned nodes_;
  std::vector<place> of_levels_;  // by level of the tree
  std::vector<place> of_nodes_;   // [from * nodes + to]
  std::vector<unsigned> node_of_path_;
};

}  // namespace heddle::sim
