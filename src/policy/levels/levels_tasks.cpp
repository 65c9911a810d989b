// Tasks under `levels`, from their making to their end.
#include "policy/levels/levels.hpp"

namespace heddle::policy {

// --- tasks -------------------------------------------------------------------------------------------------------

placement levels::started(unsigned self, const task_info& info) noexcept {
  stage& top = *stages_.front();
  const bool is_main = count_ > 1 && !has_main_.exchange(true);
  stage* to = &top;
  if (count_ > 1 && !is_main) {
    const unsigned next = next_inner_.fetch_add(1, std::memory_order_relaxed);  // any of them will do
    to = self != nobody ? &innermost(self) : inner_[next % inner_.size()];
  }
  level_task* r = new_record(self, *to, info.made, info.label);
  if (r == nullptr) {
    if (is_main) has_main_.store(false);
    return placement::stay;
  }
  r->is_main = is_main;
  info.made.tag = r;
  const bool stays = to->is_innermost() && self != nobody;
  if (!stays) return root_of(self, *r, *to);
  if (enter(self, *r, *to) == placement::send) return answer(*r, level_task::way::by_policy);
  if (to->is_unwatched()) host_->watch(self, false);
  return placement::stay;
}

// For a task above the innermost level.
placement levels::child_above(unsigned self, const task_info& info, level_task& parent) noexcept {
  stage& at = *parent.in;
  const bool deep = parent.depth > level_task::most_frames;
  const level_task::frame now{parent.share, parent.bytes, false};
  const level_task::frame& before = parent.depth != 0 && !deep ? parent.frames[parent.depth - 1] : now;
  const double part = part_of(info.work, info.group_work, info.siblings > 1 ? 1.0 / info.siblings : 0.5);
  const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : before.bytes;
  // The tasks that the owner makes itself while the group is open are at most the rest. If there are many children, it
  // is one of them.
  if (parent.depth != 0 && !deep) {
    parent.share = std::min(parent.share, before.share * std::max(std::min(1 - part, 0.5), 1e-9));
    parent.bytes = std::min(parent.bytes > 0 ? parent.bytes : bytes, bytes * 0.5);
  }
  const bool down = deep || !stays_above(at, parent.member, before.share, bytes);
  stage& to = down ? *stations_[self].stages[at.level() + 1] : at;
  if (down && to.is_innermost() && !to.wants().roots) return placement::child_first;
  level_task* r = new_record(self, to, info.made, info.label);
  if (r == nullptr) return placement::child_first;
  info.made.tag = r;
  if (down) {
    const placement where = root_of(self, *r, to);
    r->bytes = bytes * part;
    return where;
  }
  r->share = before.share * part;
  r->bytes = bytes * part;
  r->member = at.member_of(self);
  if (at.wants().spawns) {
    const task_info shown{r->here(),  &parent.here(), info.label,    info.work,      info.group_work,
                          info.bytes, info.index,     info.siblings, info.group_data};
    if (at.act(self, [&](unsigned member) { return at.inner().spawn(member, shown); }) == placement::send)
      return answer(*r, level_task::way::by_policy);
  }
  return answer(*r, level_task::way::own_queue);
}

placement levels::spawn(unsigned self, const task_info& info) noexcept {
  level_task* parent = record_of(*info.parent);
  if (parent != nullptr && !parent->in->has(self)) return placement::child_first;  // see "Not covered" in levels.md
  if (parent != nullptr && !parent->in->is_innermost()) return child_above(self, info, *parent);
  stage& at = innermost(self);
  if (!at.wants().spawns) {
    if (at.is_unwatched()) host_->watch(self, false);
    return placement::child_first;
  }
  level_task* r = new_record(self, at, info.made, info.label);
  if (r == nullptr) return placement::child_first;
  stranger plain;
  const task_info shown{r->here(),       parent != nullptr ? &parent->here() : &plain.seen,
                        info.label,      info.work,
                        info.group_work, info.bytes,
                        info.index,      info.siblings,
                        info.group_data};
  const placement where = at.inner().spawn(at.member_of(self), shown);
  if (where != placement::send && r->here().tag == nullptr) {
    drop_record(self, *r);
    return where;
  }
  info.made.tag = r;
  r->goes = level_task::way::by_policy;
  return where;
}

void levels::enqueue(unsigned self, task& t) noexcept {
  level_task& r = *record_of(t);
  stage& to = *r.in;
  const unsigned member = r.member;  // read before the task is in a list, from which it may be taken, and end
  switch (r.goes) {
    case level_task::way::by_policy: to.act(self, [&](unsigned by) { to.inner().enqueue(by, r.here()); }); return;
    case level_task::way::own_queue:
      to.queue_of(member).own.push_back(r.here());
      to.wake_any(member);
      return;
    case level_task::way::resumed:
      to.queue_of(member).resumed.push_back(r.here());
      to.wake_member(member);
      return;
    case level_task::way::loose:
      to.loose().push_back(r.here());
      to.wake_any(0);
      return;
  }
}

placement levels::ready(unsigned self, task& t) noexcept {
  level_task& r = *record_of(t);
  stage& at = *r.in;
  auto where = placement::stay;
  if (r.here().tag != nullptr)
    where = at.act(self, [&](unsigned member) { return at.inner().ready(member, r.here()); });
  if (where == placement::send) return answer(r, level_task::way::by_policy);
  if (!at.is_innermost()) return answer(r, level_task::way::resumed);
  if (self != nobody && at.has(self)) return placement::stay;
  return answer(r, level_task::way::loose);  // otherwise it would leave its part of the machine
}

// A task above the innermost level goes on where its level is served, and is watched there.
placement levels::preempted(unsigned, task& t) noexcept {
  level_task& r = *record_of(t);
  return r.in->is_innermost() ? placement::stay : answer(r, level_task::way::resumed);
}

void levels::task_end(unsigned self, task& t) noexcept {
  level_task& r = *record_of(t);
  for (unsigned level = r.in->level();; --level) {
    stage& at = *stations_[self].stages[level];
    if (task& seen = r.at[level].seen; seen.tag != nullptr)
      at.act(self, [&](unsigned member) { at.inner().task_end(member, seen); });
    if (level == r.made) break;
    stage& above = *stations_[self].stages[level - 1];
    leave_queue(above, above.member_of(self), *r.holds[level - 1]);
  }
  if (r.is_main) has_main_.store(false);
  t.tag = nullptr;
  drop_record(self, r);
}

}  // namespace heddle::policy
