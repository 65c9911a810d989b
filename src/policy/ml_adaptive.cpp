// Multi-level scheduling whose idle workers leave their level: the layout of ml-adws, and where that leaves a worker without
// work, greedy stealing. Ours. The ADWS thesis names the idle time of multi-level scheduling as its open problem (chapter 7):
// a memory group runs one root task at a time, and a root task with fewer leaves than the group has workers leaves them idle.
//
// Rules, on top of those of ml_adws.cpp:
// R1. A worker first takes what ml-adws would let it take. Only when it has insisted `patience` times in a row in vain (each
//     time: its own queues, and every victim of its active range) does it take anything else. A worker whose R2 found something bears
//     half as many next time, one that found its own by itself twice as many, between 1 and the parameter.
// R2. Then it takes the oldest task of any worker, nearest first: so a further root task is admitted to a memory group whose
//     workers idle before one is taken from another group. Then a search root that waits for a worker that is busy. Last, a
//     head takes a root task of its own that waits above the group that it has opened.
// R3. A root task admitted so is not laid out: the workers of its group are not free. It runs as under random stealing, child
//     first, and idle workers take its continuations by R2.
// R4. A fork whose bytes nobody gave goes down to the leaves of its range at once: loops touch their data once, and levels
//     would have the heads alone run them until the pieces fit.
//
// R5. The level of a group is chosen by measured idleness. A memory group whose workers have searched in vain, insisting, more
//     than `tolerance` times each since its head laid out its last group runs the next `flat_groups` on its leaves at once,
//     which is single-level ADWS within it. (Policies read no clock: an insisting search takes a few microseconds.) tolerance=0: never.
//
// Invariants:
// - M1. What may_find sees, acquire takes after at most `patience` insisting searches of that worker: both go over the same
//   queues. The exception: an owner on its way back to its station is left to that worker; others do not sleep until it has gone.
// - M2. Greedy up to patience: a worker idles while a task is queued anywhere for at most `patience` searches that insist, that is
//   O(patience * workers) attempts. So T_P <= T_1 / P + T_inf + steals * O(patience * P) attempts, as for random stealing but for
//   the factor: a lower bound on locality is traded against it, never progress.
// - M3. Over-admission is bounded: a worker runs one thread at a time, so a memory group of n workers has at most n root tasks
//   that were admitted by R2 running, beside the one that is laid out.
// - M4. No two workers act for one member: who admits acts for its own leaf.
#include "policy/ml_adaptive.hpp"

#include <algorithm>
#include <utility>

#include "machine/topology.hpp"
#include "policy/parameters.hpp"

namespace heddle::policy {

namespace {

constexpr unsigned flat_groups = 16;

}  // namespace

void ml_adaptive::start(scheduler& host) {
  ml_adws::start(host);
  expect_no_order();
  const unsigned workers = host.workers();
  searchers_.reset(new searcher[workers]);
  for (unsigned rank = 0; rank < workers; ++rank) {
    searcher& s = searchers_[rank];
    s.patience = patience_;
    for (unsigned i = 1; i < workers; ++i) s.victims.push_back((rank + i) % workers);
    std::sort(s.victims.begin(), s.victims.end(), [&](unsigned a, unsigned b) {
      return std::pair(host.distance(rank, a), (a + workers - rank) % workers) < std::pair(host.distance(rank, b), (b + workers - rank) % workers);
    });
    for (unsigned i = 0; i < s.victims.size(); ++i) {
      if (i + 1 == s.victims.size() || host.distance(rank, s.victims[i]) != host.distance(rank, s.victims[i + 1])) s.rings.push_back(i + 1);
    }
  }
  if (domains_.size() > 1 && tolerance_ != 0) idleness_.reset(new idleness[member_count_]);
}

// --- the level of a group ----------------------------------------------------------------------------------------

std::uint64_t ml_adaptive::searches_under(const machine::memory_group& g) const noexcept {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < g.worker_count; ++i) sum += searchers_[g.first_worker + i].all_in_vain.load(std::memory_order_relaxed);  // a statistic
  return sum;
}

bool ml_adaptive::has_idled(const machine::memory_group& g) const noexcept {
  idleness& of = idleness_[g.id];
  const std::uint64_t now = searches_under(g);
  const std::uint64_t before = of.seen.exchange(now, std::memory_order_relaxed);  // a statistic, as below
  unsigned left = of.flat.load(std::memory_order_relaxed);
  if (now - before > std::uint64_t{tolerance_} * g.worker_count) left = flat_groups;
  else if (left > 0) --left;
  of.flat.store(left, std::memory_order_relaxed);
  return left > 0;
}

// That workers idled before there was a program says nothing about it.
placement ml_adaptive::started(unsigned self, task& t) noexcept {
  if (idleness_ != nullptr) {
    for (const machine::memory_group& g : host_->machine()->groups()) {
      idleness_[g.id].seen.store(searches_under(g), std::memory_order_relaxed);  // a statistic
    }
  }
  return ml_adws::started(self, t);
}

void ml_adaptive::descend(unsigned self, laid_out& at, double bytes) const noexcept {
  if (idleness_ == nullptr || domains_[at.domain].leaf) return ml_adws::descend(self, at, bytes);
  laid_out by_level = at;
  ml_adws::descend(self, by_level, bytes);
  if (!domains_[by_level.domain].leaf) {
    const domain& d = domains_[at.domain];
    if (has_idled(host_->machine()->group(d.members[d.place_of_worker[self]]))) return ml_adws::descend(self, at, 0);
  }
  at = by_level;
}

// --- what an idle worker takes -----------------------------------------------------------------------------------

entry ml_adaptive::take_anything(unsigned self, effort how) noexcept {
  searcher& mine = searchers_[self];
  unsigned begin = 0;
  for (const unsigned end : mine.rings) {
    const unsigned count = end - begin;
    const unsigned offset = host_->random(self, count);
    for (unsigned i = 0; i < count; ++i) {
      if (const entry found = steal_from_anywhere(self, mine.victims[begin + (offset + i) % count], how); found != 0) return found;
    }
    begin = end;
  }
  for (const unsigned victim : mine.victims) {
    if (const entry found = steal_search_root(self, victim); found != 0) return found;
  }
  return rescue(self);
}

entry ml_adaptive::acquire(unsigned self, effort how) noexcept {
  searcher& mine = searchers_[self];
  entry found = ml_adws::acquire(self, how);
  if (found == 0 && how == effort::insist) {
    mine.all_in_vain.store(mine.all_in_vain.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // a statistic
    if (++mine.in_vain >= mine.patience && (found = take_anything(self, how)) != 0) mine.patience = std::max(mine.patience / 2, 1u);
  } else if (found != 0) {
    mine.patience = std::min(mine.patience * 2, patience_);
  }
  if (found != 0) mine.in_vain = 0;
  return found;
}

bool ml_adaptive::may_find(unsigned self) noexcept {
  if (has_anything(self)) return true;
  for (unsigned i = 0; i < member_count_; ++i) {
    if (!members_[i].search_roots.looks_empty()) return true;
  }
  return false;
}

std::unique_ptr<policy> ml_adaptive::make(const std::vector<parameter>& given) {
  parameters p("ml-adaptive", given);
  const auto patience = static_cast<unsigned>(p.number("patience", default_patience, 1, 1e6));
  const auto tolerance = static_cast<unsigned>(p.number("tolerance", default_tolerance, 0, 1e6));
  const bool levels = p.choice("levels", "on|off") == 0;
  p.finish();
  return std::make_unique<ml_adaptive>(patience, tolerance, levels);
}

}  // namespace heddle::policy
