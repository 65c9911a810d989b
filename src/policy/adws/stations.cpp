#include "policy/adws/stations.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace heddle::policy {

void stations::start(scheduler& host) {
  host_ = &host;
  all_.reset(new station[host.workers()]);
  for (unsigned rank = 0; rank < host.workers(); ++rank) {
    station& s = all_[rank];
    s.nodes.start(rank);
    s.heads = lines_.headed_by(rank);
    s.acts_for = s.heads.front();
    s.base = lines_.of(s.heads.front()).level;
  }
}

// --- which member, which level -----------------------------------------------------------------------------------

void stations::act_for(unsigned self, unsigned which) noexcept {
  const unsigned before = acts_for(self);
  if (before == which) return;
  member& old = lines_.of(before);
  std::lock_guard hold(all_[self].turning);
  // relaxed: the head's own variable
  (old.uses_migrated.load(std::memory_order_relaxed) ? old.migrated : old.local).fill_from(*host_, self);
  all_[self].acts_for.store(which, std::memory_order_relaxed);  // relaxed: under `turning`
}

void stations::use_migrated(unsigned self, member& m, bool yes) noexcept {
  if (m.uses_migrated.load(std::memory_order_relaxed) == yes) return;  // relaxed: the head's own variable
  std::lock_guard hold(all_[self].turning);
  if (!yes) m.migrated.fill_from(*host_, self);
  m.uses_migrated.store(yes, std::memory_order_relaxed);  // under `turning`
}

void stations::adopt(unsigned self, task& t) noexcept {
  laid_out& at = layout_of(t);
  unsigned which = lines_.line(at.domain).member_of(self);
  // Only one worker acts for a member, so `self` acts for the lowest member of which it is the head.
  if (lines_.of(which).head != self) which = all_[self].heads.back();
  if (const std::uint32_t base = std::exchange(at.base, unchanged); base != unchanged) {
    std::atomic<unsigned>& mine = all_[self].base;  // the worker's own variable
    // The minimum is taken because groups may end in any order.
    mine.store(std::min(base, mine.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  }
  act_for(self, which);
  member& m = lines_.of(which);
  use_migrated(self, m, false);
  // pairs with layout_search::choose_victims: publishes the node
  m.tree.store(&node_of(t), std::memory_order_release);
  host_->watch(self, true);
}

entry stations::begin_passed(unsigned self, task& t) noexcept {
  laid_out& at = layout_of(t);
  if (lines_.line(at.domain).leaf || !lines_.lead(self, at)) {
    t.tag = nullptr;  // nothing below it is laid out: as under random_ws
    host_->watch(self, false);
  } else {
    at.range = lines_.place_of(self, at.domain);  // a thief becomes its owner
    host_->watch(self, true);
  }
  return host_->entry_of(t);
}

// --- a worker's own tasks ----------------------------------------------------------------------------------------

// POPTASKFROMLOCAL of one member, without the fork queue.
entry stations::next_of(unsigned self, unsigned which) noexcept {
  member& m = lines_.of(which);
  if (m.looks_empty()) return 0;
  if (task* t = m.search_roots.pop_front(); t != nullptr) {
    adopt(self, *t);
    return host_->entry_of(*t);
  }
  act_for(self, which);
  if (!m.uses_migrated.load(std::memory_order_relaxed)) {  // relaxed: the head's own variable
    if (const entry found = m.local.take_newest(); found != 0) return found;
    if (m.migrated.size() == 0 && m.passed.looks_empty()) return 0;
    use_migrated(self, m, true);
  }
  if (const entry found = m.migrated.take_newest(); found != 0) return found;
  if (task* t = m.passed.pop_front(); t != nullptr) return begin_passed(self, *t);
  use_migrated(self, m, false);
  return m.local.take_newest();
}

entry stations::next_own(unsigned self) noexcept {
  const unsigned current = acts_for(self);
  if (const entry found = next_of(self, current); found != 0) return found;
  use_migrated(self, lines_.of(current), false);  // both queues are empty
  for (const unsigned which : all_[self].heads) {
    if (which == current || !may_act_for(self, which)) continue;
    if (const entry found = next_of(self, which); found != 0) return found;
  }
  return 0;
}

entry stations::pick(unsigned self, bool own_is_empty) noexcept {
  if (own_is_empty) return next_own(self);
  for (const unsigned which : all_[self].heads) {
    member& m = lines_.of(which);
    if (m.search_roots.looks_empty() || !may_act_for(self, which)) [[likely]]
      continue;
    task* t = m.search_roots.pop_front();
    if (t == nullptr) continue;
    adopt(self, *t);
    return host_->entry_of(*t);
  }
  return 0;
}

// --- when levels keep a task from its worker ---------------------------------------------------------------------

bool stations::are_stuck() const noexcept {
  if (!host_->all_idle()) return false;
  for (unsigned rank = 0; rank < host_->workers(); ++rank) {
    if (host_->has_work(rank)) return false;
    for (const unsigned which : all_[rank].heads) {
      if (may_act_for(rank, which) && !lines_.of(which).looks_empty()) return false;
    }
  }
  return true;
}

// No worker runs anything, and still a task may be queued that levels keep from its worker. A task that waits for
// something other than its descendants may need it. So the restriction to levels is lifted then [adws:6].
entry stations::rescue(unsigned self) noexcept {
  for (const unsigned which : all_[self].heads) {
    if (lines_.of(which).looks_empty()) continue;
    act_for(self, which);
    if (const entry found = next_own(self); found != 0) return found;
  }
  return 0;
}

}  // namespace heddle::policy
