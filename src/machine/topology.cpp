// Queries about a machine and its tree, and the functions that make other machines from it.
#include "machine/topology.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "machine/source.hpp"

namespace heddle::machine {

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

topology topology::with_latencies(std::span<const double> of_kind, std::vector<node_latency> nodes) const {
  topology made = *this;
  std::copy_n(of_kind.begin(), std::min(of_kind.size(), kinds_of_group), made.latencies_);
  made.node_latencies_ = std::make_shared<const std::vector<node_latency>>(std::move(nodes));
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

}  // namespace heddle::machine
