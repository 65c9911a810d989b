// MTS, multi-threaded shepherds: the workers of a memory group share one queue, newest task first. When it is empty
// one of them steals for all: the oldest tasks of another group's queue, one for each worker of its own group.
//
// Source: Olivier, Porterfield, Wheeler, Prins, "Scheduling task parallelism on multi-socket multicore systems"
// (ROSS 2011), as Chen and Guo (2017), section 3.2, describe it. They found random and nearest victims alike:
// victim=random is the default.
//
// Deviations, and why:
// - A socket is a memory group of the topmost level of the machine that has several (worker_groups.hpp).
// - `batch` sets the number of tasks for each steal; 0 is the paper's number.
// - Workers that do not steal may sleep; the thief wakes them.
// - A worker that insists also takes threads that were woken by a worker which is in a long leaf now, first those of
//   its own group. Such threads stand with the worker that woke them, not in the queue.
#include "policy/groups/mts.hpp"

#include <algorithm>
#include <utility>

namespace heddle::policy {

void mts::start(scheduler& host) {
  policy::start(host);
  const std::vector<worker_group> groups = worker_groups(host);
  count_ = static_cast<unsigned>(groups.size());
  shepherds_.reset(new shepherd[count_]);
  of_ = group_of_ranks(groups, host.workers());
  for (unsigned g = 0; g < count_; ++g) {
    shepherd& s = shepherds_[g];
    s.workers = groups[g];
    for (unsigned i = 1; i < count_; ++i) s.victims.push_back((g + i) % count_);
    const auto way = [&](unsigned to) {
      return std::pair(host.distance(groups[g].first, groups[to].first), (to + count_ - g) % count_);
    };
    std::sort(s.victims.begin(), s.victims.end(), [&](unsigned a, unsigned b) { return way(a) < way(b); });
  }
}

void mts::enqueue(unsigned self, task& t) noexcept {
  const unsigned rank = self == nobody ? 0 : self;
  shepherds_[of_[rank]].queue.push_front(t);
  host_->wake_any(rank);
}

entry mts::take(unsigned self) noexcept {
  task* t = shepherds_[of_[self]].queue.pop_front();
  return t == nullptr ? 0 : host_->entry_of(*t);
}

// Takes the oldest tasks of another shepherd: the first one for the caller, the others into the queue of the caller's
// group.
entry mts::fetch(unsigned self, shepherd& mine) noexcept {
  const auto n = static_cast<unsigned>(mine.victims.size());
  const unsigned wanted = batch_ != 0 ? batch_ : mine.workers.count;
  const unsigned offset = nearest_first_ || n < 2 ? 0 : host_->random(self, n);
  for (unsigned i = 0; i < n; ++i) {
    shepherd& victim = shepherds_[mine.victims[(offset + i) % n]];
    task* first = victim.queue.pop_back();
    if (first == nullptr) continue;
    unsigned got = 1;
    for (task* t; got < wanted && (t = victim.queue.pop_back()) != nullptr; ++got) mine.queue.push_front(*t);
    for (unsigned i2 = 0; i2 < mine.workers.count && got > 1; ++i2) {
      if (mine.workers.first + i2 != self) host_->wake(mine.workers.first + i2);
    }
    return host_->entry_of(*first);
  }
  return 0;
}

entry mts::acquire(unsigned self, effort how) noexcept {
  if (const entry found = take(self); found != 0) return found;
  shepherd& mine = shepherds_[of_[self]];
  // relaxed: a hint; the exchange is the claim
  if (!mine.victims.empty() && !mine.fetching.load(std::memory_order_relaxed) && !mine.fetching.exchange(true)) {
    const entry found = fetch(self, mine);
    mine.fetching.store(false);
    if (found != 0) return found;
  }
  if (how == effort::glance) return 0;
  const unsigned workers = host_->workers();
  for (unsigned i = 0; i < workers; ++i) {
    const unsigned victim = (mine.workers.first + i) % workers;  // its own group's come first
    if (victim == self || !host_->has_work(victim)) continue;
    if (const entry found = host_->steal(self, victim, how); found != 0) return found;
  }
  return 0;
}

bool mts::may_find(unsigned self) noexcept {
  for (unsigned g = 0; g < count_; ++g) {
    if (!shepherds_[g].queue.looks_empty()) return true;
  }
  return policy::may_find(self);
}

std::unique_ptr<policy> mts::make(parameters& given) {
  const bool nearest_first = given.choice("victim", "random|near") == 1;
  const auto batch = given.whole("batch", 0, 0, 1e6);
  return create<mts>(nearest_first, batch);
}

}  // namespace heddle::policy
