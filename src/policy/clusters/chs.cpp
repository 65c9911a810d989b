// CHS, cluster-aware hierarchical stealing: workers form a tree. An idle worker looks through its own subtree first. It
// asks its parent only if the whole subtree has nothing. The parent looks through its own subtree and then asks its own
// parent. If a whole cluster has nothing, its root asks a random other cluster, by way of that cluster's root, and
// waits for the answer. No other worker steals from other clusters.
//
// Source: van Nieuwpoort, Kielmann, Bal, "Efficient load balancing for wide-area divide-and-conquer applications"
// (PPoPP 2001), as Chen and Guo (2017), section 4.3, describe it.
//
// Deviations, and why:
// - The tree is that of the machine's memory groups. The first worker of a group stands for it: it is the parent of
//   the other workers there, or of the first ones of the groups inside. `level` chooses which groups are clusters.
// - No message goes along the edges. The thief itself visits the workers in the order in which messages would, and
//   takes from the first one that has something.
// - A root that is in a long leaf steals nothing for its cluster, as in the paper; so the policy does not promise to be
//   work-conserving.
#include "policy/clusters/chs.hpp"

namespace heddle::policy {

void chs::start(scheduler& host) {
  policy::start(host);
  clusters_.start(host, level_);
  wants_.limits = clusters_.are_several();
  for (unsigned self = 0; self < host.workers(); ++self) {
    // Nearest groups come first, ordered by rank within one, so a group's first worker comes before those below it.
    const rings nearest(self, host, rings::order::by_rank);
    auto& order = tree_.emplace_back();
    for (const unsigned other : nearest.workers()) {
      if (clusters_.are_neighbours(self, other)) order.push_back(other);
    }
  }
}

// Goes through another cluster, its root first.
entry chs::descend(unsigned self, const worker_group& into, effort how) noexcept {
  for (unsigned victim = into.first; victim < into.first + into.count; ++victim) {
    if (!host_->has_work(victim)) continue;
    if (const entry found = rob(*host_, self, victim, how); found != 0 || how == effort::glance) return found;
  }
  return 0;
}

entry chs::acquire(unsigned self, effort how) noexcept {
  bool subtree_has_something = false;
  for (const unsigned victim : tree_[self]) {
    if (!host_->has_work(victim)) continue;
    if (const entry found = rob(*host_, self, victim, how); found != 0 || how == effort::glance) return found;
    subtree_has_something = true;  // another thief was quicker
  }
  if (subtree_has_something || !clusters_.are_several() || !clusters_.leads(self)) return 0;
  const unsigned first = clusters_.draw_other(*host_, self);
  return go_round(clusters_.count(), first, how, [&](unsigned number) -> entry {
    return number == clusters_.number_of(self) ? 0 : descend(self, clusters_[number], how);
  });
}

bool chs::may_find(unsigned self) noexcept {
  for (unsigned victim = 0; victim < host_->workers(); ++victim) {
    if (may_rob(self, victim) && host_->has_work(victim)) return true;
  }
  return false;
}

std::unique_ptr<policy> chs::make(parameters& given) { return create<chs>(clusters::asked_for(given)); }

}  // namespace heddle::policy
