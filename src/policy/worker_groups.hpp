// The memory groups that have queues of their own under MTS and HWS: "sockets" in their papers.
#pragma once

#include <algorithm>
#include <vector>

#include <heddle/policy.hpp>

namespace heddle::policy {

struct worker_group {
  unsigned first, count;  // ranks [first, first + count); the first one leads

  bool has(unsigned rank) const noexcept { return rank - first < count; }
};

// The memory groups of the topmost level of the machine that has several, if one of them has several workers. Else
// all workers are one group.
inline std::vector<worker_group> worker_groups(const scheduler& host) {
  std::vector<worker_group> groups;
  const machine::view machine = host.machine();
  if (machine.workers() == host.workers()) {
    for (unsigned level = 1; level < machine.levels() && groups.size() < 2; ++level) {
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

// Of each rank, the place of its group in `groups`.
inline std::vector<unsigned> group_of_ranks(const std::vector<worker_group>& groups, unsigned workers) {
  std::vector<unsigned> of(workers, 0);
  for (unsigned g = 0; g < groups.size(); ++g) std::fill_n(of.begin() + groups[g].first, groups[g].count, g);
  return of;
}

}  // namespace heddle::policy
