// CHS, cluster-aware hierarchical stealing: workers form a tree. An idle worker looks through its own subtree first. It
// asks its parent only if the whole subtree has nothing. The parent looks through its own subtree and then asks its own
// parent. If a whole cluster has nothing, its root asks the root of a random other cluster, which looks through its
// tree, and waits for the answer. Meanwhile no other request leaves the cluster.
//
// Source: van Nieuwpoort, Kielmann, Bal, "Efficient load balancing for wide-area divide-and-conquer applications"
// (PPoPP 2001), as Chen and Guo (2017), section 4.3, describe it.
//
// Deviations, and why:
// - The tree is that of the machine's memory groups. The first worker of a group stands for it: it is the parent of
//   the other workers there, or of the first ones of the groups inside. `level` chooses which groups are clusters.
// - The handlers of messages run on the thief, because memory is shared. It visits the workers in the order in which
//   messages would, and takes from the first one that has something. So a root also asks for others while it computes.
//   A message to another cluster takes its time where the simulated machine says so, also if it is in vain.
// - A worker whose cluster has a request under way looks again, and may fall asleep. So the policy does not promise to
//   be work-conserving.
#include "policy/clusters/chs.hpp"

namespace heddle::policy {

void chs::start(scheduler& host) {
  policy::start(host);
  clusters_.start(host, level_);
  roots_.reset(new root[clusters_.count()]);
  for (unsigned self = 0; self < host.workers(); ++self) {
    // Nearest groups come first, ordered by rank within one, so a group's first worker comes before those below it.
    const rings nearest(self, host, rings::order::by_rank);
    auto& order = tree_.emplace_back();
    for (const unsigned other : nearest.workers()) {
      if (clusters_.are_neighbours(self, other)) order.push_back(other);
    }
  }
}

// Asks another cluster's root, which gives what it finds in its tree: its own first.
entry chs::ask(unsigned self, const worker_group& other, effort how) noexcept {
  unsigned victim = other.first;
  while (victim < other.first + other.count && !host_->has_work(victim)) ++victim;
  if (victim == other.first + other.count) victim = other.first;  // the root says no
  return rob(*host_, self, victim, how);
}

entry chs::acquire(unsigned self, effort how) noexcept {
  bool subtree_has_something = false;
  for (const unsigned victim : tree_[self]) {
    if (!host_->has_work(victim)) continue;
    if (const entry found = rob(*host_, self, victim, how); found != 0 || how == effort::glance) return found;
    subtree_has_something = true;  // another thief was quicker
  }
  if (subtree_has_something || !clusters_.are_several()) return 0;
  // acquire pairs with the store: nothing is published, requests of one cluster merely follow each other
  root& mine = roots_[clusters_.number_of(self)];
  if (mine.waits.exchange(true, std::memory_order_acquire)) return 0;
  const unsigned first = clusters_.draw_other(*host_, self);
  const entry found = go_round(clusters_.count(), first, how, [&](unsigned number) -> entry {
    return number == clusters_.number_of(self) ? 0 : ask(self, clusters_[number], how);
  });
  mine.waits.store(false, std::memory_order_release);  // pairs with the exchange: as there
  return found;
}

std::unique_ptr<policy> chs::make(parameters& given) { return create<chs>(clusters::asked_for(given)); }

}  // namespace heddle::policy
