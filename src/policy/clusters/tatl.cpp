// TATL: each worker's queue has a status bit. A queue that has grown to an upper threshold is a VICTIM; one that has
// shrunk to a lower threshold, or is empty, is a THIEF. A worker runs the newest tasks of its own queue. When that is
// empty it takes the oldest task of a VICTIM of its stealing domain, and where the domain has none, of a VICTIM
// elsewhere. Queues that are no VICTIM are not looked into.
//
// Source: Vikranth, Wankar, Rao, "Topology aware task stealing for on-chip NUMA multi-core processors" (Procedia
// Computer Science 18, 2013), as Chen and Guo (2017), Algorithm 5, describe it.
//
// Deviations, and why:
// - A stealing domain is a memory group (clusters.hpp).
// - Equations 4.1 and 4.2 compute the thresholds from the capacity of a queue and from rates. Queues have no capacity
//   here, and the text says once that S is the least and once that it is the most. As in the algorithm, the upper
//   threshold makes a VICTIM and the lower one a THIEF; they are `most`, 4, and `least`, 1. The algorithm tests for
//   equality, which a length that moves by more than one may miss. Here the tests are "at least" and "at most".
// - The algorithm as printed searches for a victim also after it has run a task of its own, and in remote domains looks
//   into a variable that it has not set. Here only an empty queue searches, and takes what it finds.
// - A stolen task is run at once; it does not pass through the thief's queue.
// - Tasks in a queue that is no VICTIM belong to its owner. So the policy does not promise to be work-conserving.
// - A worker that insists takes threads which were woken by a worker that is in a long leaf now.
// - Tasks that a foreign kernel thread makes go to worker 0.
#include "policy/clusters/tatl.hpp"

#include <stdexcept>
#include <string>

namespace heddle::policy {

void tatl::start(scheduler& host) {
  policy::start(host);
  domains_.start(host, level_);
  queues_.reset(new run_queue[host.workers()]);
}

void tatl::enqueue(unsigned self, task& t) noexcept {
  const unsigned rank = self == nobody ? 0 : self;
  run_queue& mine = queues_[rank];
  mine.tasks.push_front(t);
  if (self == nobody) host_->wake(rank);
  if (mine.tasks.size() >= most_) mine.is_victim.store(true);
  // Wakes a worker even if the queue was a victim before, because each further task is one more that a thief can take.
  if (mine.is_victim.load()) host_->wake_any(rank);
}

// Called after a task has left the queue. Another worker may have put a task in meanwhile. In that case that worker, or
// the next one that takes a task, sets the bit again. A length between the thresholds fits either status.
entry tatl::taken(run_queue& from, task* t) noexcept {
  if (from.tasks.size() <= least_) from.is_victim.store(false);
  return t == nullptr ? 0 : host_->entry_of(*t);
}

entry tatl::take_own(unsigned self) noexcept {
  run_queue& mine = queues_[self];
  return mine.tasks.looks_empty() ? 0 : taken(mine, mine.tasks.pop_front());
}

entry tatl::take_from(unsigned victim) noexcept {
  run_queue& from = queues_[victim];
  return from.is_victim.load() ? taken(from, from.tasks.pop_back()) : 0;
}

// Searches the workers [first, first + count), from a random one on.
entry tatl::search(unsigned self, unsigned first, unsigned count) noexcept {
  const unsigned offset = count < 2 ? 0 : host_->random(self, count);
  for (unsigned i = 0; i < count; ++i) {
    const unsigned victim = first + (offset + i) % count;
    if (victim == self) continue;
    if (const entry found = take_from(victim); found != 0) return found;
  }
  return 0;
}

entry tatl::acquire(unsigned self, effort how) noexcept {
  if (const entry found = take_own(self); found != 0) return found;
  const worker_group& domain = domains_.of(self);
  if (const entry found = search(self, domain.first, domain.count); found != 0) return found;
  const unsigned from = domains_.number_of(self);
  for (unsigned i = 1; i < domains_.count(); ++i) {
    const worker_group& remote = domains_[(from + i) % domains_.count()];
    if (const entry found = search(self, remote.first, remote.count); found != 0) return found;
  }
  if (how == effort::glance) return 0;
  for (unsigned victim = 0; victim < host_->workers(); ++victim) {
    if (victim == self || !host_->has_work(victim)) continue;
    if (const entry found = host_->steal(self, victim, how); found != 0) return found;
  }
  return 0;
}

bool tatl::may_find(unsigned self) noexcept {
  if (!queues_[self].tasks.looks_empty()) return true;
  for (unsigned victim = 0; victim < host_->workers(); ++victim) {
    if (queues_[victim].is_victim.load() && !queues_[victim].tasks.looks_empty()) return true;
  }
  return policy::may_find(self);
}

std::unique_ptr<policy> tatl::make(parameters& given) {
  const unsigned level = clusters::asked_for(given);
  const auto most = given.whole("most", 4, 1, 1e6);
  const auto least = given.whole("least", 1, 0, 1e6);
  if (least >= most)
    throw std::invalid_argument("policy tatl: least=" + std::to_string(least) +
                                " is not below most=" + std::to_string(most));
  return create<tatl>(level, most, least);
}

}  // namespace heddle::policy
