// The memory groups that policies treat as units: "sockets" in the papers of MTS and HWS, "clusters" in the papers
// about stealing over networks (clusters.hpp).
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <heddle/policy.hpp>

namespace heddle::policy {

struct worker_group {
  unsigned first, count;  // ranks [first, first + count); the first one leads

  bool has(unsigned rank) const noexcept { return rank - first < count; }
};

// The memory groups of level `only` of the machine; the root has level 0. If `only` is 0, those of the topmost level
// that has several. If no level has several groups, or none of the groups has several workers, all workers are one
// group. Throws std::invalid_argument if the machine is known and has no level `only`.
inline std::vector<worker_group> worker_groups(const scheduler& host, unsigned only = 0) {
  std::vector<worker_group> groups;
  const machine::view machine = host.machine();
  if (machine.workers() == host.workers()) {
    if (only >= machine.levels())
      throw std::invalid_argument("policy parameter level=" + std::to_string(only) + " is not a number from 0 to " +
                                  std::to_string(machine.levels() - 1) + ", the levels of the machine");
    const unsigned last = only == 0 ? machine.levels() : only + 1;  // a leaf above that level represents itself
    for (unsigned level = std::max(only, 1u); level < last && groups.size() < 2; ++level) {
      groups.clear();
      for (const unsigned id : machine.groups_at(level)) {
        const machine::memory_group& g = machine.group(id);
        if (g.worker_count != 0) groups.push_back({g.first_worker, g.worker_count});
      }
    }
    std::sort(groups.begin(), groups.end(),
              [](const worker_group& a, const worker_group& b) { return a.first < b.first; });
  }
  const bool shared = std::any_of(groups.begin(), groups.end(), [](const worker_group& g) { return g.count > 1; });
  if (groups.size() < 2 || !shared) groups.assign(1, {0, host.workers()});
  return groups;
}

// For each rank, the index of its group in `groups`.
inline std::vector<unsigned> group_of_ranks(const std::vector<worker_group>& groups, unsigned workers) {
  std::vector<unsigned> of(workers, 0);
  for (unsigned g = 0; g < groups.size(); ++g) std::fill_n(of.begin() + groups[g].first, groups[g].count, g);
  return of;
}

}  // namespace heddle::policy
