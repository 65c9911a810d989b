// Conversion of sets of units to the tree of memory groups: README.md, "Building the tree".
#include <algorithm>
#include <numeric>
#include <utility>

#include "machine/source.hpp"
#include "machine/topology.hpp"

namespace heddle::machine {

namespace {

// A group while the tree is being built; children are indices, in order of rank.
struct draft {
  memory_group group;
  std::vector<unsigned> children;
};

// Returns the sets as ranges of ranks, in preorder. Of several sets with the same ranks only one is kept ([tree:3]).
std::vector<memory_group> ranges_of(const std::vector<unsigned>& positions, const std::vector<topology_set>& sets) {
  std::vector<memory_group> ranges;
  for (const topology_set& set : sets) {
    const auto first = std::lower_bound(positions.begin(), positions.end(), set.first);
    const auto last = std::lower_bound(first, positions.end(), set.last);
    if (first == last) continue;
    memory_group g;
    g.kind = set.kind;
    g.capacity = set.capacity;
    g.line_size = set.line_size;
    g.associativity = set.associativity;
    g.sharing = set.last - set.first;
    g.first_worker = static_cast<unsigned>(first - positions.begin());
    g.worker_count = static_cast<unsigned>(last - first);
    if (g.kind == group_kind::numa && g.worker_count == positions.size()) continue;  // the root says the same
    ranges.push_back(g);
  }
  std::sort(ranges.begin(), ranges.end(), [](const memory_group& a, const memory_group& b) {
    if (a.first_worker != b.first_worker) return a.first_worker < b.first_worker;
    if (a.worker_count != b.worker_count) return a.worker_count > b.worker_count;
    if (is_cache(a.kind) != is_cache(b.kind)) return is_cache(a.kind);  // a cache says more than the memory behind it
    return a.kind < b.kind;
  });
  const auto same_workers = [](const memory_group& a, const memory_group& b) {
    return a.first_worker == b.first_worker && a.worker_count == b.worker_count;
  };
  ranges.erase(std::unique(ranges.begin(), ranges.end(), same_workers), ranges.end());
  return ranges;
}

memory_group unit_leaf(const memory_group& parent, unsigned rank) {
  memory_group g;
  g.kind = group_kind::unit;
  if (is_cache(parent.kind)) {
    g.capacity = parent.capacity / parent.worker_count;
    g.line_size = parent.line_size;
  }
  g.first_worker = rank;
  g.worker_count = 1;
  g.sharing = 1;
  return g;
}

// Gives a leaf of its own to every worker that is in no child of `at`.
void add_unit_leaves(std::vector<draft>& tree, unsigned at) {
  const memory_group parent = tree[at].group;
  if (at != 0 && tree[at].children.empty() && parent.worker_count == 1) return;  // it is the leaf itself
  std::vector<unsigned> all;
  unsigned rank = parent.first_worker;
  const auto fill_to = [&](unsigned end) {
    for (; rank < end; ++rank) {
      all.push_back(static_cast<unsigned>(tree.size()));
      tree.push_back({unit_leaf(parent, rank), {}});
    }
  };
  const std::vector<unsigned> children = tree[at].children;
  for (const unsigned child : children) {
    fill_to(tree[child].group.first_worker);
    all.push_back(child);
    rank += tree[child].group.worker_count;
  }
  fill_to(parent.first_worker + parent.worker_count);
  tree[at].children = std::move(all);
}

bool has_node(const std::vector<processing_unit>& workers, const memory_group& g, int numa) {
  return std::any_of(workers.begin() + g.first_worker, workers.begin() + g.first_worker + g.worker_count,
                     [numa](const processing_unit& u) { return u.numa == numa; });
}

std::vector<draft> nested(const std::vector<memory_group>& ranges, unsigned workers) {
  std::vector<draft> tree(1);
  tree[0].group.capacity = unlimited;
  tree[0].group.worker_count = workers;
  std::vector<unsigned> open = {0};
  for (const memory_group& g : ranges) {
    const auto outside = [&](const memory_group& o) { return g.first_worker >= o.first_worker + o.worker_count; };
    while (outside(tree[open.back()].group)) open.pop_back();
    const auto id = static_cast<unsigned>(tree.size());
    tree.push_back({g, {}});
    tree[open.back()].children.push_back(id);
    open.push_back(id);
  }
  const std::size_t groups = tree.size();
  for (unsigned i = 0; i < groups; ++i) add_unit_leaves(tree, i);
  return tree;
}

std::vector<memory_group> breadth_first(const std::vector<draft>& tree) {
  std::vector<memory_group> groups = {tree[0].group};
  std::vector<unsigned> origin = {0};
  for (unsigned at = 0; at < groups.size(); ++at) {
    const std::vector<unsigned>& children = tree[origin[at]].children;
    groups[at].id = at;
    groups[at].first_child = static_cast<unsigned>(groups.size());
    groups[at].child_count = static_cast<unsigned>(children.size());
    for (const unsigned child : children) {
      groups.push_back(tree[child].group);
      groups.back().parent = at;
      groups.back().level = groups[at].level + 1;
      origin.push_back(child);
    }
  }
  return groups;
}

}  // namespace

std::vector<cache_info> caches_of(const std::vector<topology_set>& sets) {
  std::vector<cache_info> caches;
  for (const topology_set& set : sets) {
    if (is_cache(set.kind))
      caches.push_back({set.kind, set.capacity, set.line_size, set.associativity, set.first, set.last});
  }
  std::sort(caches.begin(), caches.end(), [](const cache_info& a, const cache_info& b) {
    return a.kind != b.kind ? a.kind > b.kind : a.first_unit < b.first_unit;
  });
  return caches;
}

topology tree_builder::whole(std::string name, bool this_machine, std::uint64_t memory_bytes, unsigned kinds,
                             std::vector<processing_unit> units, std::vector<topology_set> sets) {
  topology made;
  made.name_ = std::make_shared<const std::string>(std::move(name));
  made.this_machine_ = this_machine;
  made.memory_bytes_ = memory_bytes;
  made.kinds_ = kinds;
  made.sets_ = std::make_shared<const std::vector<topology_set>>(std::move(sets));
  made.caches_ = std::make_shared<const std::vector<cache_info>>(caches_of(*made.sets_));
  std::vector<unsigned> positions(units.size());
  std::iota(positions.begin(), positions.end(), 0u);
  made.units_ = std::make_shared<const std::vector<processing_unit>>(units);
  place(made, std::move(units), positions);
  return made;
}

void tree_builder::place_again(topology& on) {
  std::vector<processing_unit> workers;
  std::vector<unsigned> positions;
  for (const processing_unit& worker : *on.worker_units_) {
    const processing_unit* known = on.unit(worker.number);
    workers.push_back(known != nullptr ? *known : worker);
    positions.push_back(static_cast<unsigned>(known != nullptr ? known - on.units_->data() : on.units_->size()));
  }
  place(on, std::move(workers), positions);
}

void tree_builder::place(topology& on, std::vector<processing_unit> workers, const std::vector<unsigned>& positions) {
  std::vector<memory_group> groups =
      breadth_first(nested(ranges_of(positions, *on.sets_), static_cast<unsigned>(positions.size())));
  groups.front().sharing = static_cast<unsigned>(on.units_->size());
  std::vector<unsigned> leaves(workers.size());
  for (memory_group& g : groups) {
    if (g.is_leaf()) leaves[g.first_worker] = g.id;
    g.numa = workers[g.first_worker].numa;
    g.latency = on.latencies_[static_cast<std::size_t>(g.kind)];
    for (unsigned rank = g.first_worker; rank < g.first_worker + g.worker_count; ++rank) {
      g.speed += workers[rank].speed;
      if (workers[rank].numa != g.numa) g.numa = -1;
    }
    if (g.kind == group_kind::unit && is_cache(groups[g.parent].kind)) g.latency = groups[g.parent].latency;
    // The latency of a memory is the longest of those between the nodes of its workers.
    if (is_cache(g.kind) || g.kind == group_kind::unit) continue;
    for (const node_latency& known : *on.node_latencies_) {
      const bool within = g.numa >= 0 ? known.from == g.numa && known.to == g.numa
                                      : has_node(workers, g, known.from) && has_node(workers, g, known.to);
      if (within) g.latency = std::max(g.latency, known.ns);
    }
  }
  on.groups_ = std::make_shared<const std::vector<memory_group>>(std::move(groups));
  on.leaves_ = std::make_shared<const std::vector<unsigned>>(std::move(leaves));
  on.worker_units_ = std::make_shared<const std::vector<processing_unit>>(std::move(workers));
}

}  // namespace heddle::machine
