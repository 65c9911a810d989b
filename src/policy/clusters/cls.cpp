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
// - Nobody sends lengths of queues. The coordinator reads them at each `interval`-th fork or choice that it makes. A
//   worker of its cluster that becomes idle runs the coordinator's handler of messages itself, because memory is
//   shared. So a coordinator in a long leaf hears of idle workers, and not of queues that become short.
// - The papers name neither threshold nor interval. Ours are as many tasks as the cluster has workers (`load`), and 16.
// - One request at a time is under way, because there is one mailbox to store the answer. The request is withdrawn
//   after `patience` looks in vain, as under crs. A coordinator that was not answered and insists takes by force.
// - Workers that are no coordinators rob no other cluster, and may sleep while there is work elsewhere and the
//   coordinator computes. So the policy does not promise to be work-conserving.
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
  if (mine.until_next-- != 0) return;
  mine.until_next = interval_;
  handle(self);
}

// The coordinator's handler of messages: looks at the cluster's load, and asks for more if it is low. Called by any
// worker of the cluster, on itself.
void cls::handle(unsigned self) noexcept {
  coordinator& mine = coordinators_[clusters_.number_of(self)];
  // acquire pairs with the store below: makes `request` visible
  if (mine.is_handling.exchange(true, std::memory_order_acquire)) return;
  const worker_group& home = clusters_.of(self);
  if (!mine.request.stands(*host_, home.first, patience_)) {
    const unsigned enough = load_ != 0 ? load_ : home.count;
    unsigned load = 0;
    for (unsigned i = 0; i < home.count && load < enough; ++i) load += host_->queued(home.first + i);
    if (load < enough) mine.request.send(*host_, home.first, clusters_.draw_remote(*host_, self));
  }
  mine.is_handling.store(false, std::memory_order_release);  // pairs with the exchanges
}

bool cls::take_refusal(coordinator& mine) noexcept {
  if (mine.is_handling.exchange(true, std::memory_order_acquire)) return false;  // as in handle
  const bool was_refused = mine.request.take_refusal();
  mine.is_handling.store(false, std::memory_order_release);
  return was_refused;
}

entry cls::acquire(unsigned self, effort how) noexcept {
  const worker_group& home = clusters_.of(self);
  const others neighbours(self, home.first, home.count);
  if (!clusters_.are_several()) return neighbours.rob_at_random(*host_, how);
  if (!clusters_.leads(self)) {
    if (workers_[self].is_watched) host_->watch(self, workers_[self].is_watched = false);
    const entry found = neighbours.rob_at_random(*host_, how);
    if (found == 0) handle(self);
    return found;
  }
  handle(self);
  const entry found = neighbours.rob_at_random(*host_, how);
  if (found != 0 || how == effort::glance || !take_refusal(coordinators_[clusters_.number_of(self)])) return found;
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
