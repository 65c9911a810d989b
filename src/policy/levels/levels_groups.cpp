// Groups, forks and iterations under `levels`.
#include "policy/levels/levels.hpp"

#include <utility>

namespace heddle::policy {

// --- groups ------------------------------------------------------------------------------------------------------

namespace {

// The same group, with its owner as the policy of a stage knows it.
group_info seen_by(const group_info& info, task& owner) noexcept {
  return {info.work, info.bytes, info.children, info.expected, owner, info.data};
}

}  // namespace

void levels::group_begin(unsigned self, group_info& info) noexcept {
  level_task* owner = record_of(info.owner);
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  if (!at.is_innermost()) push_frame(*owner, false);
  if (at.is_unwatched()) host_->watch(self, false);
  if (!at.wants().groups) return;
  stranger plain;
  group_info seen = seen_by(info, owner != nullptr ? owner->here() : plain.seen);
  at.act(self, [&](unsigned member) { at.inner().group_begin(member, seen); });
  info.data = seen.data;
}

void levels::group_wait(unsigned self, group_info& info) noexcept {
  level_task* owner = record_of(info.owner);
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  if (!at.wants().groups) return;
  stranger plain;
  group_info seen = seen_by(info, owner != nullptr ? owner->here() : plain.seen);
  at.act(self, [&](unsigned member) { at.inner().group_wait(member, seen); });
}

placement levels::group_end(unsigned self, group_info& info) noexcept {
  level_task* owner = record_of(info.owner);
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  if (!at.is_innermost()) pop_frame(*owner);
  if (!at.wants().groups) return placement::stay;
  stranger plain;
  group_info seen = seen_by(info, owner != nullptr ? owner->here() : plain.seen);
  const placement where = at.act(self, [&](unsigned member) { return at.inner().group_end(member, seen); });
  return where == placement::send && owner != nullptr ? answer(*owner, level_task::way::by_policy) : placement::stay;
}

placement levels::next_iteration(unsigned self, task& owner, const void* label) noexcept {
  level_task* r = record_of(owner);
  if (r == nullptr || !r->in->wants().iterations || !r->in->has(self)) return placement::stay;
  stage& at = *r->in;
  const placement where =
      at.act(self, [&](unsigned member) { return at.inner().next_iteration(member, r->here(), label); });
  return where == placement::send ? answer(*r, level_task::way::by_policy) : placement::stay;
}

// --- forks -------------------------------------------------------------------------------------------------------

// Above the innermost level every second half becomes a task, unless it is for the workers of this group, which take it
// from the queue where it lies.
bool levels::fork_begin(unsigned self, const fork_info& info) noexcept {
  level_task* owner = record_of(info.owner);
  if (owner != nullptr && !owner->in->has(self)) return false;
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  station& mine = stations_[self];
  if (at.is_innermost() && !at.wants().forks) {
    if (at.is_unwatched()) host_->watch(self, false);
    return false;
  }
  if (!at.is_innermost()) {
    if (owner->depth >= level_task::most_frames) return false;
    const stage& below = *mine.stages[at.level() + 1];
    const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : owner->bytes;
    if (!stays_above(at, owner->member, owner->share, bytes) && below.is_innermost() && !below.wants().roots)
      return false;
  }
  if (mine.reserved == nullptr) mine.reserved = new_record(self, at, info.owner, nullptr);
  if (mine.reserved == nullptr) return false;
  stranger plain;
  const fork_info seen{info.first, info.second, info.bytes, owner != nullptr ? owner->here() : plain.seen};
  mine.shown = at.wants().forks && at.act(self, [&](unsigned member) { return at.inner().fork_begin(member, seen); });
  return !at.is_innermost() || mine.shown;
}

// For a task above the innermost level.
placement levels::half_above(unsigned self, const fork_info& info, const task_info& half, level_task& owner) noexcept {
  stage& at = *owner.in;
  const bool shown = stations_[self].shown;
  const double part = part_of(info.second, info.first + info.second, 0.5);
  const double bytes = info.bytes != 0 ? static_cast<double>(info.bytes) : owner.bytes;
  push_frame(owner, shown);
  level_task& r = *record_of(half.made);
  const bool down = !stays_above(at, owner.member, owner.share, bytes);
  const double share = owner.share * part;
  owner.share *= std::max(1 - part, 1e-9);
  owner.bytes = bytes * (1 - part);
  if (!down || shown) {  // what its policy was promised is its own
    r.share = share;
    r.bytes = bytes * part;
    r.member = at.member_of(self);
    if (!shown) return answer(r, level_task::way::own_queue);
    const fork_info seen{info.first, info.second, info.bytes, owner.here()};
    const task_info seen_half{r.here(),   &owner.here(), half.label,    half.work,      half.group_work,
                              half.bytes, half.index,    half.siblings, half.group_data};
    const placement where = at.act(self, [&](unsigned member) { return at.inner().fork(member, seen, seen_half); });
    return answer(r, where == placement::send ? level_task::way::by_policy : level_task::way::own_queue);
  }
  stage& to = *stations_[self].stages[at.level() + 1];
  r.made = to.level();
  const placement where = root_of(self, r, to);
  r.bytes = bytes * part;
  return where;
}

placement levels::fork(unsigned self, const fork_info& info, const task_info& half) noexcept {
  level_task* owner = record_of(info.owner);
  stage& at = owner != nullptr ? *owner->in : innermost(self);
  level_task& r = *std::exchange(stations_[self].reserved, nullptr);
  begin_record(r, at, half.made, half.label);  // It was reserved for another task, perhaps on another level.
  half.made.tag = &r;
  if (!at.is_innermost()) return half_above(self, info, half, *owner);
  stranger plain;
  task& seen_owner = owner != nullptr ? owner->here() : plain.seen;
  const fork_info seen{info.first, info.second, info.bytes, seen_owner};
  const task_info seen_half{r.here(),   &seen_owner, half.label,    half.work,      half.group_work,
                            half.bytes, half.index,  half.siblings, half.group_data};
  const placement where = at.inner().fork(at.member_of(self), seen, seen_half);
  if (where == placement::send) return answer(r, level_task::way::by_policy);
  if (r.here().tag == nullptr) {
    half.made.tag = nullptr;
    drop_record(self, r);
  }
  return where;
}

void levels::fork_wait(unsigned self, task& owner) noexcept {
  level_task* r = record_of(owner);
  stage& at = r != nullptr ? *r->in : innermost(self);
  if (!at.is_innermost() && (r->depth == 0 || !r->frames[r->depth - 1].shown)) return;
  stranger plain;
  at.act(self, [&](unsigned member) { at.inner().fork_wait(member, r != nullptr ? r->here() : plain.seen); });
}

placement levels::fork_end(unsigned self, task& owner, std::uint64_t elapsed) noexcept {
  level_task* r = record_of(owner);
  stage& at = r != nullptr ? *r->in : innermost(self);
  if (!at.is_innermost() && !pop_frame(*r)) return placement::stay;
  stranger plain;
  const placement where = at.act(self, [&](unsigned member) {
    return at.inner().fork_end(member, r != nullptr ? r->here() : plain.seen, elapsed);
  });
  return where == placement::send && r != nullptr ? answer(*r, level_task::way::by_policy) : placement::stay;
}

}  // namespace heddle::policy
