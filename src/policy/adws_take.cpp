// ADWS, second part: what a worker takes next. Source: Algorithm 4.3; deviations: adws.cpp.
#include <algorithm>
#include <mutex>

#include <heddle/policy_victims.hpp>

#include "policy/adws.hpp"

namespace heddle::policy {

namespace {

constexpr unsigned longest_walk = 4096;  // of thieves, up the tree: a race may make them walk in a circle
// Searches in a row in which nobody runs anything, before levels are given up. One is not enough: a worker that is
// just taking something looks idle, too.
constexpr unsigned idle_enough = 4;

}  // namespace

// POPTASKFROMLOCAL of one member, but for the fork queue.
entry adws::next_of(unsigned self, unsigned which) noexcept {
  member& m = members_[which];
  if (m.looks_empty()) return 0;
  if (task* t = m.search_roots.pop_front(); t != nullptr) {
    adopt(self, *t);
    return host_->entry_of(*t);
  }
  act_for(self, which);
  if (!m.uses_migrated.load(std::memory_order_relaxed)) {  // the head's own
    if (const entry found = m.local.take_newest(); found != 0) return found;
    if (m.migrated.size() == 0 && m.passed.looks_empty()) return 0;
    use_migrated(self, m, true);
  }
  if (const entry found = m.migrated.take_newest(); found != 0) return found;
  if (task* t = m.passed.pop_front(); t != nullptr) return start_passed(self, *t);
  use_migrated(self, m, false);
  return m.local.take_newest();
}

// First of the member that the worker acts for, then of the others whose head it is and for which it may act.
entry adws::next_own(unsigned self) noexcept {
  const unsigned current = acts_for(self);
  if (const entry found = next_of(self, current); found != 0) return found;
  use_migrated(self, members_[current], false);  // both queues are empty
  for (const unsigned which : stations_[self].heads) {
    if (which == current || !may_act_for(self, which)) continue;
    if (const entry found = next_of(self, which); found != 0) return found;
  }
  return 0;
}

entry adws::pick(unsigned self, bool own_is_empty) noexcept {
  if (own_is_empty) return next_own(self);
  for (const unsigned which : stations_[self].heads) {
    member& m = members_[which];
    if (m.search_roots.looks_empty() || !may_act_for(self, which)) [[likely]]
      continue;
    task* t = m.search_roots.pop_front();
    if (t == nullptr) continue;
    adopt(self, *t);
    return host_->entry_of(*t);
  }
  return 0;
}

// STEALTASK, lines 28 - 34, for a member that the worker acts for.
adws::victims adws::choose_victims(unsigned self, unsigned which) const noexcept {
  if (!steals_) return {false, 0, 0, 0, false};
  if (how_ == layout::by_steals) {  // in the largest domain that has work; domains are numbered from the root down
    for (std::uint32_t i = 0; i < domains_.size(); ++i) {
      const domain& d = domains_[i];
      if (d.members[d.place_of_worker[self]] != which || open_groups_[i].load() == 0) continue;
      return {true, i, 0, static_cast<unsigned>(d.members.size() - 1), true};
    }
    return {false, 0, 0, 0, false};
  }
  const std::uint32_t level = members_[which].level;
  const tree_node* top = nullptr;
  std::uint32_t use = 0;
  const auto consider = [&](const tree_node* n) {
    const domain& d = domains_[n->domain.load(std::memory_order_relaxed)];  // a hint
    if (d.level != level || d.members[d.place_of_worker[self]] != which) return false;
    // hints
    const distribution_range r{n->from.load(std::memory_order_relaxed), n->to.load(std::memory_order_relaxed)};
    const unsigned place = d.place_of_worker[self];
    const std::uint32_t now = n->uses.load();
    if (n->active.load() && r.owner() <= place && place <= r.last()) {
      top = n;
      use = now;
    }
    return true;
  };
  if (const tree_node* root = root_group_.load(); root != nullptr) consider(root);
  // acquire pairs with adopt, open: the node; relaxed: parents are nodes for ever
  const tree_node* n = top != nullptr ? nullptr : members_[which].tree.load(std::memory_order_acquire);
  for (unsigned steps = 0; n != nullptr && n != &everything_ && steps < longest_walk; ++steps) {
    if (!consider(n)) break;
    n = n->parent.load(std::memory_order_relaxed);
  }
  if (top == nullptr) return {false, 0, 0, 0, false};
  // hints
  const distribution_range r{top->from.load(std::memory_order_relaxed), top->to.load(std::memory_order_relaxed)};
  // a hint
  const std::uint32_t d = top->domain.load(std::memory_order_relaxed);
  const auto most = static_cast<unsigned>(domains_[d].members.size() - 1);
  return {true, d, std::min(r.owner(), most), std::min(r.last(), most), r.covers_last(), top, use};
}

// STEALTASK, lines 37 - 42, for the member at `place` of the range's domain.
entry adws::steal_from(unsigned self, const victims& from, unsigned place, effort how) noexcept {
  member& m = members_[domains_[from.domain].members[place]];
  if (m.head == self || !from.hold()) return 0;
  if (place != from.first) {
    if (task* t = m.passed.pop_back(); t != nullptr) return start_passed(self, *t);
    if (const entry found = m.migrated.take_oldest(); found != 0) return found;
    if (const entry found = steal_queue_of(self, m, true, from, how); found != 0) return found;
  }
  if (place != from.last || from.covers_last) {
    if (const entry found = m.local.take_oldest(); found != 0) return found;
    return steal_queue_of(self, m, false, from, how);
  }
  return 0;
}

// From the fork queue of the member's head, if that is this queue of this member at the moment [adws:5].
entry adws::steal_queue_of(unsigned self, const member& of, bool migrated, const victims& from, effort how) noexcept {
  const auto which = static_cast<unsigned>(&of - members_.get());
  // a hint
  const auto is_it = [&] {
    return acts_for(of.head) == which && of.uses_migrated.load(std::memory_order_relaxed) == migrated;
  };
  if (!is_it() || !host_->has_work(of.head)) return 0;
  station& victim = stations_[of.head];
  if (!victim.turning.try_lock()) return 0;
  const entry found = is_it() && from.hold() ? host_->steal(self, of.head, how) : 0;
  victim.turning.unlock();
  if (found == 0 && how == effort::glance) host_->request(self, of.head);
  return found;
}

entry adws::steal_from_anywhere(unsigned self, unsigned victim, effort how) noexcept {
  if (const entry found = rob(*host_, self, victim, how); found != 0) return found;
  for (const unsigned which : stations_[victim].heads) {
    member& m = members_[which];
    if (task* t = m.passed.pop_back(); t != nullptr) return start_passed(self, *t);
    if (const entry found = m.migrated.take_oldest(); found != 0) return found;
    if (const entry found = m.local.take_oldest(); found != 0) return found;
  }
  return 0;
}

entry adws::steal_search_root(unsigned self, unsigned victim) noexcept {
  for (const unsigned which : stations_[victim].heads) {
    member& m = members_[which];
    task* t = m.search_roots.pop_front();
    if (t == nullptr) continue;
    if (layout_of(*t).base != unchanged) {
      m.search_roots.push_back(*t);
      host_->wake(victim);
      continue;
    }
    adopt(self, *t);
    return host_->entry_of(*t);
  }
  return 0;
}

// Nobody runs anything, and nobody has a task that he may run.
bool adws::is_stuck() const noexcept {
  if (!host_->all_idle()) return false;
  for (unsigned rank = 0; rank < host_->workers(); ++rank) {
    if (host_->has_work(rank)) return false;
    for (const unsigned which : stations_[rank].heads) {
      if (may_act_for(rank, which) && !members_[which].looks_empty()) return false;
    }
  }
  return true;
}

// Nobody runs anything, and still a task may be queued that levels keep from its worker: it is needed by one that
// waits for something else than its descendants. Levels do not count then [adws:6].
entry adws::rescue(unsigned self) noexcept {
  for (const unsigned which : stations_[self].heads) {
    if (members_[which].looks_empty()) continue;
    act_for(self, which);
    if (const entry found = next_own(self); found != 0) return found;
  }
  return 0;
}

entry adws::acquire(unsigned self, effort how) noexcept {
  unsigned& vain = stations_[self].vain_glances;
  if (const entry found = next_own(self); found != 0) return vain = 0, found;
  const unsigned workers = host_->workers();
  if (workers < 2) return 0;
  if (how == effort::glance && vain < patience_) return ++vain, 0;
  if (is_everybodys()) {
    return go_round(workers, host_->random(self, workers), how,
                    [&](unsigned victim) { return victim == self ? 0 : steal_from_anywhere(self, victim, how); });
  }
  for (const unsigned which : stations_[self].heads) {
    if (!may_act_for(self, which)) continue;
    const victims from = choose_victims(self, which);
    if (!from.any || from.last == from.first) continue;
    const unsigned count = from.last - from.first + 1;
    const entry found = go_round(count, host_->random(self, count), how,
                                 [&](unsigned place) { return steal_from(self, from, from.first + place, how); });
    if (found != 0) {
      act_for(self, which);
      vain = 0;
      return found;
    }
  }
  if (!multi_level_ || how != effort::insist) return 0;
  unsigned& seen = stations_[self].all_idle_seen;
  seen = is_stuck() ? seen + 1 : 0;
  return seen >= idle_enough ? rescue(self) : 0;
}

bool adws::has_work_for(const victims& from, unsigned place) const noexcept {
  const member& m = members_[domains_[from.domain].members[place]];
  const bool queue = acts_for(m.head) == static_cast<unsigned>(&m - members_.get()) && host_->has_work(m.head);
  const bool queue_is_migrated = m.uses_migrated.load(std::memory_order_relaxed);  // a hint
  if (place != from.first && (!m.passed.looks_empty() || m.migrated.size() != 0 || (queue && queue_is_migrated)))
    return true;
  return (place != from.last || from.covers_last) && (m.local.size() != 0 || (queue && !queue_is_migrated));
}

bool adws::has_anything(unsigned self) noexcept {
  for (unsigned i = 0; i < member_count_; ++i) {
    const member& m = members_[i];
    if (m.head == self ? !m.looks_empty() : !m.passed.looks_empty() || m.local.size() != 0 || m.migrated.size() != 0)
      return true;
  }
  return policy::may_find(self);
}

bool adws::may_find(unsigned self) noexcept {
  if (is_everybodys()) return has_anything(self);
  for (const unsigned which : stations_[self].heads) {
    if (!may_act_for(self, which)) continue;
    if (!members_[which].looks_empty()) return true;
    const victims from = choose_victims(self, which);
    for (unsigned place = from.first; from.any && place <= from.last; ++place) {
      if (members_[domains_[from.domain].members[place]].head != self && has_work_for(from, place)) return true;
    }
  }
  if (multi_level_ && is_stuck()) {
    for (unsigned i = 0; i < member_count_; ++i) {
      if (members_[i].looks_empty()) continue;
      if (members_[i].head == self) return true;
      host_->wake(members_[i].head);
    }
  }
  return false;
}

bool adws::may_rob(unsigned self, unsigned victim) noexcept {
  if (self == victim) return false;
  if (is_everybodys()) return true;
  for (const unsigned which : stations_[self].heads) {
    if (!may_act_for(self, which)) continue;
    const victims from = choose_victims(self, which);
    for (unsigned place = from.first; from.any && place <= from.last; ++place) {
      if (members_[domains_[from.domain].members[place]].head == victim) return true;
    }
  }
  return false;
}

}  // namespace heddle::policy
