#include "sim/meeting_points.hpp"

#include <algorithm>

namespace heddle::sim {

meeting_points::meeting_points(const machine::model& machine, const cache_tree& caches, const memory_nodes& memory)
    : caches_(caches), nodes_(memory.count()), of_nodes_(std::size_t{nodes_} * nodes_) {
  for (const machine::group_kind kind : caches.levels()) {
    const auto level = std::ranges::find(machine.caches, kind, &machine::cache_level::kind);
    of_levels_.push_back(level == machine.caches.end() ? place{} : level->coherence);
  }
  for (const machine::memory_node& n : machine.nodes) {
    const std::size_t node = memory.index_of(n.numa);
    of_nodes_[node * nodes_ + node] = n.coherence;
  }
  for (const machine::memory_link& l : machine.links) {
    of_nodes_[std::size_t{memory.index_of(l.from)} * nodes_ + memory.index_of(l.to)] = l.coherence;
  }
  node_of_path_.resize(caches.paths().size());
  for (unsigned unit = 0; unit < machine.tree.units().size(); ++unit)
    node_of_path_[caches.path_of(unit)] = memory.node_of_unit(unit);
}

}  // namespace heddle::sim
