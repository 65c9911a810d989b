// CLS, cluster-aware load-based stealing: random stealing within a cluster. One worker of each cluster, the
// coordinator, watches the cluster's load, which is the number of tasks queued there. When the load falls below a
// threshold, the coordinator asks a random worker of another cluster, and goes on with its own work meanwhile. The
// answer is stored with the coordinator.
//
// Source: van Nieuwpoort, Kielmann, Bal, "Efficient load balancing for wide-area divide-and-conquer applications"
// (PPoPP 2001), as Chen and Guo (2017), section 4.3, describe it.
//
// Deviations, and why:
// - A cluster is a memory group (clusters.hpp), and its first worker is the coordinator.
// - Nobody sends lengths of queues. The coordinator reads them at each `interval`-th fork or choice that it makes, and
//   at the next one when a worker of its cluster has told it that it is idle. It hears nothing in a long leaf, where
//   the paper's coordinator has a message handler. For the same reason the policy does not promise to be
//   work-conserving.
// - The papers name neither threshold nor interval. Ours are as many tasks as the cluster has workers (`load`), and 16.
// - One request at a time is under way, because there is one mailbox to store the answer. The request is withdrawn
//   after `patience` looks in vain, as under crs. A coordinator that was not answered and insists takes by force.
#include "policy/clusters/cls.hpp"

namespace heddle::policy {

void cls::start(scheduler& host) {
  policy::start(host);
  clusters_.start(host, level_);
  const bool several = clusters_.are_several();
  wants_.asks = wants_.limits = wants_.forks = wants_.picks = several;
  if (patience_ == 0) patience_ = far_request::patience_for(host, clusters_, 64);
  coordinators_.reset(new coordinator[clusters_.count()]);
  workers_.reset(new worker_state[host.workers()]);
}

// Called on the coordinator, between two pieces of its own work.
void cls::hear(unsigned self) noexcept {
  coordinator& mine = coordinators_[clusters_.number_of(self)];
  // relaxed: a message that comes a moment later is heard at the next fork
  const bool told = mine.is_told.load(std::memory_order_relaxed);
  if (!told && mine.until_next-- != 0) return;
  if (told) mine.is_told.store(false, std::memory_order_relaxed);  // relaxed as above
  mine.until_next = interval_;
  prefetch(self, mine);
}

void cls::prefetch(unsigned self, coordinator& mine) noexcept {
  if (mine.request.stands(*host_, self, patience_)) return;
  const worker_group& home = clusters_.of(self);
  const unsigned enough = load_ != 0 ? load_ : home.count;
  unsigned load = 0;
  for (unsigned i = 0; i < home.count && load < enough; ++i) load += host_->queued(home.first + i);
  if (load < enough) mine.request.send(*host_, self, clusters_.draw_remote(*host_, self));
}

entry cls::acquire(unsigned self, effort how) noexcept {
  const worker_group& home = clusters_.of(self);
  const others neighbours(self, home.first, home.count);
  if (!clusters_.are_several()) return neighbours.rob_at_random(*host_, how);
  coordinator& mine = coordinators_[clusters_.number_of(self)];
  if (!clusters_.leads(self)) {
    if (workers_[self].is_watched) host_->watch(self, workers_[self].is_watched = false);
    const entry found = neighbours.rob_at_random(*host_, how);
    // relaxed: pairs with hear; the message carries no data
    if (found == 0 && !mine.is_told.load(std::memory_order_relaxed))
      mine.is_told.store(true, std::memory_order_relaxed);
    return found;
  }
  prefetch(self, mine);
  const entry found = neighbours.rob_at_random(*host_, how);
  if (found != 0 || how == effort::glance || !mine.request.take_refusal()) return found;
  return force_remote(*host_, clusters_, self);
}

bool cls::may_find(unsigned self) noexcept {
  for (unsigned victim = 0; victim < host_->workers(); ++victim) {
    if (may_rob(self, victim) && host_->has_work(victim)) return true;
  }
  return false;
}

std::unique_ptr<policy> cls::make(parameters& given) {
  const unsigned level = clusters::asked_for(given);
  const auto load = given.whole("load", 0, 0, 1e6);
  const auto interval = given.whole("interval", 16, 1, 1e6);
  const auto patience = given.whole("patience", 0, 0, 1e9);
  return create<cls>(level, load, interval, patience);
}

}  // namespace heddle::policy
