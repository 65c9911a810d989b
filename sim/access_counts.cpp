#include "sim/access_counts.hpp"

#include <algorithm>

namespace heddle::sim {

access_counts::access_counts(const machine::model& machine, const cache_tree& caches)
    : kinds_(caches.levels().begin(), caches.levels().end()),
      counts_(machine.tree.units().size() * kinds_.size()),
      reaches_(machine.tree.units().size()) {
  const auto units = machine.tree.units();
  for (const machine::cache_info& c : machine.tree.caches()) {  // caches() goes outwards
    if (c.capacity == 0) continue;
    const auto level = static_cast<unsigned>(std::ranges::find(kinds_, c.kind) - kinds_.begin());
    const bool one_core = units[c.first_unit].core == units[c.last_unit - 1].core;
    for (unsigned unit = c.first_unit; unit < c.last_unit; ++unit) {
      (one_core ? reaches_[unit].own : reaches_[unit].shared) = level;
      if (one_core) reaches_[unit].shared = reach::none;
    }
  }
}

std::vector<level_count> access_counts::levels() const {
  std::vector<level_count> result;
  for (const machine::group_kind kind : kinds_) result.push_back({kind});
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    level_count& sum = result[i % result.size()];
    sum.accesses += counts_[i].accesses;
    sum.misses += counts_[i].misses;
    sum.invalidations += counts_[i].invalidations;
  }
  return result;
}

std::vector<level_count> access_counts::levels_of(unsigned unit) const {
  std::vector<level_count> result;
  for (std::size_t level = 0; level < kinds_.size(); ++level) {
    const of_level& c = counts_[unit * kinds_.size() + level];
    result.push_back({kinds_[level], c.accesses, c.misses, c.invalidations});
  }
  return result;
}

reach_count access_counts::reach_of(unsigned unit) const noexcept {
  const reach& r = reaches_[unit];
  const of_level* levels = counts_.data() + unit * kinds_.size();
  return {r.own == reach::none ? 0 : levels[r.own].misses,
          r.shared == reach::none ? 0 : levels[r.shared].misses,
          r.memory.local,
          r.memory.remote,
          r.memory.from_caches,
          r.memory.transfers,
          r.memory.upgrades,
          r.own != reach::none,
          r.shared != reach::none};
}

void access_counts::reset() noexcept {
  std::fill(counts_.begin(), counts_.end(), of_level{});
  for (reach& r : reaches_) r.memory = {};
}

std::uint64_t access_counts::bytes() const noexcept {
  return counts_.capacity() * sizeof(of_level) + reaches_.capacity() * sizeof(reach);
}

}  // namespace heddle::sim
