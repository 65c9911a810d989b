#include "policy/adws/layout_search.hpp"

#include <algorithm>
#include <mutex>

#include <heddle/policy_victims.hpp>

#include "policy/patience.hpp"

namespace heddle::policy {

namespace {

// The longest walk of a thief up the tree, because a race may make it walk in a circle.
constexpr unsigned longest_walk = 4096;

}  // namespace

// --- by the rules ------------------------------------------------------------------------------------------------

// STEALTASK, lines 28 - 34. `which` is a member for which the worker acts.
layout_search::victims layout_search::choose_victims(unsigned self, unsigned which) const noexcept {
  if (!rules_.steals) return {false, 0, 0, 0, false};
  if (rules_.by_steals()) {  // The largest domain that has work; domains are numbered from the root down.
    for (std::uint32_t i = 0; i < lines_.count(); ++i) {
      const domain& d = lines_.line(i);
      if (d.member_of(self) != which || !layout_.is_open(i)) continue;
      return {true, i, 0, static_cast<unsigned>(d.members.size() - 1), true};
    }
    return {false, 0, 0, 0, false};
  }
  const std::uint32_t level = lines_.of(which).level;
  const tree_node* top = nullptr;
  std::uint32_t use = 0;
  const auto consider = [&](const tree_node* n) {
    const domain& d = lines_.line(n->domain.load(std::memory_order_relaxed));  // a hint
    if (d.level != level || d.member_of(self) != which) return false;
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
  if (const tree_node* root = layout_.root_group(); root != nullptr) consider(root);
  // The walk goes up to the node above all trees, which has no parent and is never active. acquire pairs with
  // stations::adopt and layout::open: makes the node visible. relaxed: a parent is a node for ever.
  const tree_node* n = top != nullptr ? nullptr : lines_.of(which).tree.load(std::memory_order_acquire);
  for (unsigned steps = 0; n != nullptr && steps < longest_walk; ++steps) {
    if (!consider(n)) break;
    n = n->parent.load(std::memory_order_relaxed);
  }
  if (top == nullptr) return {false, 0, 0, 0, false};
  // hints
  const distribution_range r{top->from.load(std::memory_order_relaxed), top->to.load(std::memory_order_relaxed)};
  // a hint
  const std::uint32_t d = top->domain.load(std::memory_order_relaxed);
  const auto most = static_cast<unsigned>(lines_.line(d).members.size() - 1);
  return {true, d, std::min(r.owner(), most), std::min(r.last(), most), r.covers_last(), top, use};
}

// STEALTASK, lines 37 - 42, applied to the member at `place` of the range's domain.
entry layout_search::steal_from(unsigned self, const victims& from, unsigned place, effort how) noexcept {
  member& m = member_at(from, place);
  if (m.head == self || !from.hold()) return 0;
  if (place != from.first) {
    if (task* t = m.passed.pop_back(); t != nullptr) return workers_.begin_passed(self, *t);
    if (const entry found = m.migrated.take_oldest(); found != 0) return found;
    if (const entry found = steal_queue_of(self, m, true, from, how); found != 0) return found;
  }
  if (place != from.last || from.covers_last) {
    if (const entry found = m.local.take_oldest(); found != 0) return found;
    return steal_queue_of(self, m, false, from, how);
  }
  return 0;
}

// Steals from the fork queue of the member's head, if that queue serves as this queue of this member at the moment
// [adws:5].
entry layout_search::steal_queue_of(unsigned self, const member& of, bool migrated, const victims& from,
                                    effort how) noexcept {
  const unsigned which = lines_.id_of(of);
  // a hint
  const auto is_it = [&] {
    return workers_.acts_for(of.head) == which && of.uses_migrated.load(std::memory_order_relaxed) == migrated;
  };
  if (!is_it() || !host_->has_work(of.head)) return 0;
  station& victim = workers_[of.head];
  if (!victim.turning.try_lock()) return 0;
  const entry found = is_it() && from.hold() ? host_->steal(self, of.head, how) : 0;
  victim.turning.unlock();
  if (found == 0 && how == effort::glance) host_->request(self, of.head);
  return found;
}

// The victim at which the thief begins, counted from the first one.
unsigned layout_search::first_of(unsigned self, const victims& from) noexcept {
  const unsigned remembered = memory_.first(self);
  for (unsigned place = from.first; remembered != nobody && place <= from.last; ++place) {
    if (lines_.id_of(member_at(from, place)) == remembered) return place - from.first;
  }
  return host_->random(self, from.last - from.first + 1);
}

// A worker that has one of several threads has often been woken for another one. So it wakes a worker for what is left.
entry layout_search::pass_on(unsigned self, entry found) noexcept {
  if (found == 0 || !rules_.in_order || !(has_anything(self) || has_search_root())) return found;
  for (unsigned i = 1; i < host_->workers(); ++i) {
    if (host_->wake((self + i) % host_->workers())) break;
  }
  return found;
}

entry layout_search::acquire(unsigned self, effort how) noexcept {
  unsigned& vain = workers_[self].vain_glances;
  if (const entry found = workers_.next_own(self); found != 0) return vain = 0, found;
  const unsigned workers = host_->workers();
  if (workers < 2) return 0;
  if (how == effort::glance && vain < rules_.patience) return ++vain, 0;
  if (workers_.are_everybodys()) {
    const unsigned first = host_->random(self, workers);
    const entry found = go_round(workers, first, how, [&](unsigned victim) {
      return victim == self ? 0 : steal_from_anywhere(self, victim, how);
    });
    if (found != 0 || !layout_.are_search_roots_everybodys()) return pass_on(self, found);
    return pass_on(self, go_round(workers, first, how, [&](unsigned victim) {
                     return victim == self ? 0 : steal_search_root(self, victim);
                   }));
  }
  for (const unsigned which : workers_[self].heads) {
    if (!workers_.may_act_for(self, which)) continue;
    const victims from = choose_victims(self, which);
    if (!from.any || from.last == from.first) continue;
    const unsigned count = from.last - from.first + 1;
    unsigned where = 0;
    const entry found = go_round(count, first_of(self, from), how, [&](unsigned place) {
      where = from.first + place;
      return steal_from(self, from, where, how);
    });
    if (found != 0) {
      memory_.note(self, lines_.id_of(member_at(from, where)));
      workers_.act_for(self, which);
      vain = 0;
      return found;
    }
  }
  memory_.note(self, nobody);
  if (!lines_.have_levels() || how != effort::insist) return 0;
  unsigned& seen = workers_[self].all_idle_seen;
  seen = workers_.are_stuck() ? seen + 1 : 0;
  return seen >= idle_enough ? workers_.rescue(self) : 0;
}

bool layout_search::has_work_for(const victims& from, unsigned place) const noexcept {
  const member& m = member_at(from, place);
  const bool queue = workers_.acts_for(m.head) == lines_.id_of(m) && host_->has_work(m.head);
  const bool queue_is_migrated = m.uses_migrated.load(std::memory_order_relaxed);  // a hint
  if (place != from.first && (!m.passed.looks_empty() || m.migrated.size() != 0 || (queue && queue_is_migrated)))
    return true;
  return (place != from.last || from.covers_last) && (m.local.size() != 0 || (queue && !queue_is_migrated));
}

bool layout_search::may_find(unsigned self) noexcept {
  if (workers_.are_everybodys())
    return has_anything(self) || (layout_.are_search_roots_everybodys() && has_search_root());
  for (const unsigned which : workers_[self].heads) {
    if (!workers_.may_act_for(self, which)) continue;
    if (!lines_.of(which).looks_empty()) return true;
    const victims from = choose_victims(self, which);
    for (unsigned place = from.first; from.any && place <= from.last; ++place) {
      if (member_at(from, place).head != self && has_work_for(from, place)) return true;
    }
  }
  if (lines_.have_levels() && workers_.are_stuck()) {
    for (const member& m : lines_.members()) {
      if (m.looks_empty()) continue;
      if (m.head == self) return true;
      host_->wake(m.head);
    }
  }
  return false;
}

bool layout_search::may_rob(unsigned self, unsigned victim) noexcept {
  if (self == victim) return false;
  if (workers_.are_everybodys()) return true;
  for (const unsigned which : workers_[self].heads) {
    if (!workers_.may_act_for(self, which)) continue;
    const victims from = choose_victims(self, which);
    for (unsigned place = from.first; from.any && place <= from.last; ++place) {
      if (member_at(from, place).head == victim) return true;
    }
  }
  return false;
}

// --- past the rules ----------------------------------------------------------------------------------------------

bool layout_search::has_anything(unsigned self) const noexcept {
  for (const member& m : lines_.members()) {
    if (m.head == self ? !m.looks_empty() : !m.passed.looks_empty() || m.local.size() != 0 || m.migrated.size() != 0)
      return true;
  }
  for (unsigned victim = 0; victim < host_->workers(); ++victim) {
    if (victim != self && host_->has_work(victim)) return true;
  }
  return false;
}

bool layout_search::has_search_root() const noexcept {
  return std::any_of(lines_.members().begin(), lines_.members().end(),
                     [](const member& m) { return !m.search_roots.looks_empty(); });
}

// Takes what does not lie in a fork queue, except search roots.
entry layout_search::steal_queued(unsigned self, member& of) noexcept {
  if (task* t = of.passed.pop_back(); t != nullptr) return workers_.begin_passed(self, *t);
  if (const entry found = of.migrated.take_oldest(); found != 0) return found;
  return of.local.take_oldest();
}

entry layout_search::steal_from_anywhere(unsigned self, unsigned victim, effort how) noexcept {
  if (const entry found = rob(*host_, self, victim, how); found != 0) return found;
  for (const unsigned which : workers_[victim].heads) {
    if (const entry found = steal_queued(self, lines_.of(which)); found != 0) return found;
  }
  return 0;
}

entry layout_search::steal_leaf(unsigned self, unsigned victim, effort how) noexcept {
  const unsigned leaf = workers_[victim].heads.back();
  if (workers_.acts_for(victim) == leaf) {
    if (host_->has_work(victim)) {
      if (const entry found = host_->steal(self, victim, how); found != 0) return found;
    }
    if (how == effort::glance) host_->request(self, victim);
  }
  return steal_queued(self, lines_.of(leaf));
}

entry layout_search::steal_search_root(unsigned self, unsigned victim) noexcept {
  for (const unsigned which : workers_[victim].heads) {
    member& m = lines_.of(which);
    task* t = m.search_roots.pop_front();
    if (t == nullptr) continue;
    if (layout_of(*t).base != unchanged) {
      m.search_roots.push_back(*t);
      host_->wake(victim);
      continue;
    }
    workers_.adopt(self, *t);
    return host_->entry_of(*t);
  }
  return 0;
}

}  // namespace heddle::policy
