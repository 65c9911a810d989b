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
// - Equations 4.1, S = C - lambda T_push + mu T_pop, and 4.2, s = mu T_pop, give the thresholds of each queue. The text
//   says once that S is the least and once that it is the most. As in the algorithm, the upper threshold S makes a
//   VICTIM and the lower one s a THIEF. Queues have no capacity here: C is the parameter `capacity`, 4. The rates are
//   those of the last beat (1 ms), and the times are the parameters `push` and `pop`, 20 ns, because a policy has no
//   clock. The products are the tasks that come and go during one operation on the queue. They are far below 1 unless
//   tasks are as short as these operations, so S is C and s is 0. `most` and `least` are constants in their place.
// - The algorithm tests for equality, which a length that moves by more than one may miss. Here the tests are "at
//   least" and "at most".
// - The algorithm as printed searches for a victim also after it has run a task of its own, and in remote domains looks
//   into a variable that it has not set. Here only an empty queue searches, and takes what it finds.
// - A stolen task is run at once; it does not pass through the thief's queue.
// - Tasks in a queue that is no VICTIM belong to its owner. So the policy does not promise to be work-conserving.
// - A worker that insists takes threads which were woken by a worker that is in a long leaf now.
// - Tasks that a foreign kernel thread makes go to worker 0.
#include "policy/clusters/tatl.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace heddle::policy {

void tatl::start(scheduler& host) {
  policy::start(host);
  domains_.start(host, level_);
  queues_.reset(new run_queue[host.workers()]);
  const bounds first = rule_.capacity != 0 ? rule_.thresholds(0, 0) : constants_;
  for (unsigned rank = 0; rank < host.workers(); ++rank) {
    queues_[rank].most = first.most;
    queues_[rank].least = first.least;
  }
  wants_.beats = rule_.capacity != 0;
}

tatl::bounds tatl::equations::thresholds(double arrivals, double departures) const noexcept {
  const double lower = departures * pop;
  const double upper = capacity - arrivals * push + lower;
  const auto most = static_cast<unsigned>(std::max(std::ceil(upper), 1.0));
  return {most, std::min(static_cast<unsigned>(lower), most - 1)};
}

void tatl::beat() noexcept {
  const double span = wants_.beat_us * 1e3;  // ns
  for (unsigned rank = 0; rank < host_->workers(); ++rank) {
    run_queue& q = queues_[rank];
    const std::uint64_t pushed = q.pushed.load(std::memory_order_relaxed);  // relaxed: numbers, as the next ones
    const std::uint64_t taken = q.taken.load(std::memory_order_relaxed);
    const bounds now = rule_.thresholds(static_cast<double>(pushed - q.pushed_before) / span,
                                        static_cast<double>(taken - q.taken_before) / span);
    q.pushed_before = pushed;
    q.taken_before = taken;
    // relaxed: numbers; a worker that sees one of them earlier than the other acts on a length between the thresholds
    q.most.store(now.most, std::memory_order_relaxed);
    q.least.store(now.least, std::memory_order_relaxed);
  }
}

void tatl::enqueue(unsigned self, task& t) noexcept {
  const unsigned rank = self == nobody ? 0 : self;
  run_queue& mine = queues_[rank];
  mine.tasks.push_front(t);
  if (wants_.beats) mine.pushed.fetch_add(1, std::memory_order_relaxed);  // relaxed: numbers, as all here
  if (self == nobody) host_->wake(rank);
  if (mine.tasks.size() >= mine.most.load(std::memory_order_relaxed)) mine.is_victim.store(true);
  // Wakes a worker even if the queue was a victim before, because each further task is one more that a thief can take.
  if (mine.is_victim.load()) host_->wake_any(rank);
}

// Called after a task has left the queue. Another worker may have put a task in meanwhile. In that case that worker, or
// the next one that takes a task, sets the bit again. A length between the thresholds fits either status.
entry tatl::taken(run_queue& from, task* t) noexcept {
  if (from.tasks.size() <= from.least.load(std::memory_order_relaxed)) from.is_victim.store(false);  // as its store
  if (t != nullptr && wants_.beats) from.taken.fetch_add(1, std::memory_order_relaxed);
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
  const auto most = given.whole("most", 0, 1, 1e6);  // 0: not given
  const auto least = given.whole("least", 1, 0, 1e6);
  equations rule{};
  rule.capacity = given.whole("capacity", 4, 1, 1e6);
  rule.push = given.number("push", 20, 0, 1e9);
  rule.pop = given.number("pop", 20, 0, 1e9);
  if (most != 0) {
    if (least >= most)
      throw std::invalid_argument("policy tatl: least=" + std::to_string(least) +
                                  " is not below most=" + std::to_string(most));
    rule.capacity = 0;
  }
  return create<tatl>(level, bounds{most, least}, rule);
}

}  // namespace heddle::policy
