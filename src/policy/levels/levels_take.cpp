// The second part of `levels`: what a worker takes next. Source and deviations: levels.cpp.
#include <mutex>

#include "policy/levels/levels.hpp"
#include "policy/patience.hpp"

namespace heddle::policy {

// --- tasks above the innermost level -----------------------------------------------------------------------------

// Called when the worker's task of a level above the innermost has ended, or waits. The worker then chooses a new task.
void levels::stop_running(unsigned self) noexcept {
  station& mine = stations_[self];
  if (mine.runs_for == nullptr) [[likely]]
    return;
  member_queue& s = *std::exchange(mine.runs_for, nullptr);
  for (stage* at : mine.stages) {
    if (!at->is_innermost() && &at->queue_of(at->member_of(self)) == &s)
      return leave_queue(*at, at->member_of(self), s);
  }
}

// Another worker of the group may take a task that waits there; this worker may find something else.
void levels::leave_queue(stage& at, unsigned member, member_queue& s) noexcept {
  s.busy.fetch_sub(1);
  at.wake_member(member);
}

// The task was taken by this worker, at the level where it is, whose member queue counts it. Takes the task down as far
// as it fits. Returns 0 if the task has gone to another worker's list.
entry levels::begin(unsigned self, level_task& r) noexcept {
  station& mine = stations_[self];
  for (;;) {
    stage& at = *r.in;
    const unsigned member = at.member_of(self);
    member_queue& s = at.queue_of(member);
    r.member = member;
    if (r.begun || stays_above(at, member, r.share, r.bytes)) {
      r.begun = true;
      mine.runs_for = &s;
      host_->watch(self, true);
      return host_->entry_of(*r.real);
    }
    stage& below = *mine.stages[at.level() + 1];
    r.holds[at.level()] = &s;  // until the task ends
    const bool sent = enter(self, r, below) == placement::send;
    if (sent) below.act(self, [&](unsigned by) { below.inner().enqueue(by, r.here()); });
    if (below.is_innermost()) {
      if (sent) return below.inner().pick(below.member_of(self), true);
      host_->watch(self, !below.is_unwatched());
      return host_->entry_of(*r.real);
    }
    if (sent) return take_of(self, below, effort::glance, false);
    below.queue_of(below.member_of(self)).busy.fetch_add(1);
  }
}

// Takes, on one level, a task that waits for the worker's memory group, if the group has nothing else of that level
// [levels:3].
entry levels::take_of(unsigned self, stage& from, effort how, bool though_busy) noexcept {
  member_queue& s = from.queue_of(from.member_of(self));
  if (s.busy.load() != 0 && !though_busy) return 0;
  const entry found = from.act(self, [&](unsigned member) -> entry {
    if (s.busy.load() != 0 && !though_busy) return 0;
    task* t = s.resumed.pop_front();
    entry got = t != nullptr ? from.entry_of(*t) : 0;
    if (got == 0 && from.wants().picks) got = from.inner().pick(member, false);
    if (got == 0) {
      t = s.own.pop_back();
      if (t != nullptr) got = from.entry_of(*t);
    }
    if (got == 0 && from.wants().picks) got = from.inner().pick(member, true);
    if (got == 0) got = from.inner().acquire(member, how);
    if (got != 0) s.busy.fetch_add(1);
    return got;
  });
  return found == 0 ? 0 : begin(self, *reinterpret_cast<level_task*>(found));
}

// Innermost levels come first, because small and near tasks come before large ones.
entry levels::take_above(unsigned self, effort how, bool though_busy) noexcept {
  for (unsigned level = count_ - 1; level-- > 0;) {
    if (const entry found = take_of(self, *stations_[self].stages[level], how, though_busy); found != 0) return found;
  }
  return 0;
}

// --- the calls of the seam ---------------------------------------------------------------------------------------

entry levels::pick(unsigned self, bool own_is_empty) noexcept {
  stop_running(self);
  stage& at = innermost(self);
  if (at.wants().picks) {
    if (const entry found = at.inner().pick(at.member_of(self), own_is_empty); found != 0) return found;
  }
  if (!own_is_empty) return 0;
  if (task* t = at.loose().pop_front(); t != nullptr) {
    host_->watch(self, !at.is_unwatched());
    return at.entry_of(*t);
  }
  return take_above(self, effort::glance, false);
}

entry levels::acquire(unsigned self, effort how) noexcept {
  station& mine = stations_[self];
  stop_running(self);
  stage& at = innermost(self);
  entry found = at.inner().acquire(at.member_of(self), how);
  if (found == 0) {
    if (task* t = at.loose().pop_front(); t != nullptr) {
      host_->watch(self, !at.is_unwatched());
      found = at.entry_of(*t);
    }
  }
  if (found == 0) {
    // A task that runs below may wait for one that waits above for the same group [levels:4].
    if (how == effort::insist) mine.idle_seen = host_->all_idle() ? mine.idle_seen + 1 : 0;
    found = take_above(self, how, how == effort::insist && mine.idle_seen >= idle_enough);
  }
  if (found != 0) mine.idle_seen = 0;
  return found;
}

bool levels::waits_at(unsigned self, stage& at, unsigned member, bool though_busy) noexcept {
  member_queue& s = at.queue_of(member);
  if (s.busy.load() != 0 && !though_busy) return false;
  if (!s.resumed.looks_empty() || !s.own.looks_empty()) return true;
  std::unique_lock hold(s.turn, std::try_to_lock);
  if (!hold.owns_lock()) return true;  // another worker is looking
  s.acting = self;
  return at.inner().may_find(member);
}

bool levels::may_find(unsigned self) noexcept {
  stage& at = innermost(self);
  if (!at.loose().looks_empty() || at.inner().may_find(at.member_of(self))) return true;
  for (unsigned level = 0; level + 1 < count_; ++level) {
    stage& above = *stations_[self].stages[level];
    if (waits_at(self, above, above.member_of(self), false)) return true;
  }
  if (count_ == 1 || !host_->all_idle()) return false;
  // No worker runs anything. A task that the rule of one level keeps from its group may be taken by that group
  // [levels:4].
  bool mine = false;
  for (const std::unique_ptr<stage>& each : stages_) {
    if (each->is_innermost()) continue;
    for (unsigned member = 0; member < each->members(); ++member) {
      if (!waits_at(self, *each, member, true)) continue;
      if (each->has(self) && each->member_of(self) == member) mine = true;
      else each->wake_member(member);
    }
  }
  return mine;
}

bool levels::may_rob(unsigned self, unsigned victim) noexcept {
  stage& at = innermost(self);
  if (self == victim || !at.has(victim)) return false;
  return !at.wants().limits || at.inner().may_rob(at.member_of(self), at.member_of(victim));
}

}  // namespace heddle::policy
