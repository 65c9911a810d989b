#include "machine/topology.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "machine/source.hpp"

namespace heddle::machine {

namespace {

// A group while the tree is being built; children are indices, in order of rank.
struct draft {
  memory_group group;
  std::vector<unsigned> children;
};

bool is_cache(group_kind kind) noexcept { return kind >= group_kind::l5 && kind <= group_kind::l1; }

// The sets as ranges of ranks, in preorder; of those with the same
// ranks only the one that stays (see topology's shape).
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
    if (g.kind == group_kind::numa && g.worker_count == positions.size()) continue;  // the root says it
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

// Gives every worker that no child of `at` holds a leaf of its own.
void add_unit_leaves(std::vector<draft>& tree, unsigned at) {
  const memory_group parent = tree[at].group;
  if (at != 0 && tree[at].children.empty() && parent.worker_count == 1) return;  // is the leaf
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

}  // namespace

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
    for (unsigned rank = g.first_worker; rank < g.first_worker + g.worker_count; ++rank) {
      g.speed += workers[rank].speed;
      if (workers[rank].numa != g.numa) g.numa = -1;
    }
  }
  on.groups_ = std::make_shared<const std::vector<memory_group>>(std::move(groups));
  on.leaves_ = std::make_shared<const std::vector<unsigned>>(std::move(leaves));
  on.worker_units_ = std::make_shared<const std::vector<processing_unit>>(std::move(workers));
}

const char* name(group_kind kind) noexcept {
  static constexpr const char* names[] = {"memory", "numa", "l5", "l4", "l3", "l2", "l1", "unit"};
  return names[static_cast<unsigned>(kind)];
}

const processing_unit* topology::unit(int number) const noexcept {
  const auto found =
      std::find_if(units_->begin(), units_->end(), [&](const processing_unit& u) { return u.number == number; });
  return found == units_->end() ? nullptr : &*found;
}

std::vector<int> topology::compact_order(std::vector<int> units) const {
  std::vector<std::pair<std::size_t, int>> places;
  for (const int number : units) {
    const processing_unit* known = unit(number);
    const std::size_t unknown = units_->size() + static_cast<unsigned>(number);
    places.emplace_back(known == nullptr ? unknown : static_cast<std::size_t>(known - units_->data()), number);
  }
  std::sort(places.begin(), places.end());
  std::transform(places.begin(), places.end(), units.begin(), [](const auto& place) { return place.second; });
  return units;
}

std::uint64_t topology::node_bytes(int numa) const noexcept {
  for (const topology_set& set : *sets_) {
    if (set.kind == group_kind::numa && (*units_)[set.first].numa == numa) return set.capacity;
  }
  return 0;
}

topology topology::named(std::string name) const {
  topology made = *this;
  made.name_ = std::make_shared<const std::string>(std::move(name));
  return made;
}

topology topology::with_kinds(std::span<const unsigned> kind_of_unit, std::span<const double> speeds) const {
  if (kind_of_unit.size() != units_->size())
    throw std::invalid_argument("there must be one kind for each processing unit");
  for (const double speed : speeds) {
    if (!std::isfinite(speed) || speed <= 0)
      throw std::invalid_argument("the speed of a kind of core must be positive");
  }
  std::vector<processing_unit> units = *units_;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (kind_of_unit[i] >= speeds.size())
      throw std::invalid_argument("a processing unit is of a kind that has no speed");
    units[i].kind = kind_of_unit[i];
    units[i].speed = speeds[kind_of_unit[i]];
  }
  topology made = *this;
  made.kinds_ = static_cast<unsigned>(speeds.size());
  made.units_ = std::make_shared<const std::vector<processing_unit>>(std::move(units));
  tree_builder::place_again(made);
  return made;
}

topology topology::with_caches(std::span<const cache_info> caches) const {
  const auto same_place = [](const cache_info& a, const cache_info& b) {
    return a.kind == b.kind && a.first_unit == b.first_unit && a.last_unit == b.last_unit;
  };
  if (!std::ranges::equal(caches, *caches_, same_place))
    throw std::invalid_argument("the caches are not those of the machine");
  std::vector<topology_set> sets;
  for (const topology_set& set : *sets_) {
    if (!is_cache(set.kind)) sets.push_back(set);
  }
  for (const cache_info& c : caches)
    sets.push_back({c.kind, c.capacity, c.line_size, c.associativity, c.first_unit, c.last_unit});
  topology made = *this;
  made.caches_ = std::make_shared<const std::vector<cache_info>>(caches_of(sets));
  made.sets_ = std::make_shared<const std::vector<topology_set>>(std::move(sets));
  tree_builder::place_again(made);
  return made;
}

topology topology::for_workers(std::span<const int> units) const {
  if (units.empty()) throw std::invalid_argument("a topology needs at least one worker");
  if (!std::ranges::equal(compact_order({units.begin(), units.end()}), units)) {
    throw std::invalid_argument("the units of the workers are not in the order of the tree");
  }
  std::vector<processing_unit> workers;
  std::vector<unsigned> positions;
  for (const int number : units) {
    const processing_unit* known = unit(number);
    workers.push_back(known != nullptr ? *known : processing_unit{.number = number, .core = ~0u});
    positions.push_back(static_cast<unsigned>(known != nullptr ? known - units_->data() : units_->size()));
  }
  topology made = *this;
  tree_builder::place(made, std::move(workers), positions);
  return made;
}

std::vector<unsigned> topology::groups_at(unsigned level) const {
  std::vector<unsigned> ids;
  for (const memory_group& g : groups()) {
    if (g.level == level || (g.is_leaf() && g.level < level)) ids.push_back(g.id);
  }
  std::sort(ids.begin(), ids.end(),
            [&](unsigned a, unsigned b) { return group(a).first_worker < group(b).first_worker; });
  return ids;
}

std::uint64_t topology::capacity_at(const memory_group& of, unsigned level) const noexcept {
  if (of.level >= level || of.is_leaf()) return of.capacity;
  std::uint64_t sum = 0;
  for (const memory_group& child : children(of)) {
    const std::uint64_t part = capacity_at(child, level);
    sum = part > unlimited - sum ? unlimited : sum + part;
  }
  return sum;
}

const memory_group& topology::common_group(unsigned a, unsigned b) const noexcept {
  const memory_group* g = &leaf_of(a);
  while (b < g->first_worker || b >= g->first_worker + g->worker_count) g = &group(g->parent);
  return *g;
}

unsigned topology::distance(unsigned a, unsigned b) const noexcept {
  return leaf_of(a).level - common_group(a, b).level;
}

}  // namespace heddle::machine
