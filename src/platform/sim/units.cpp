// Processing units. One strand occupies each at a time; the others that want it wait in its queue and alternate.
#include <algorithm>

#include "platform/sim/engine.hpp"

namespace heddle::sim {

int engine::free_unit(int preferred) const noexcept {
  if (preferred >= 0 && units_[static_cast<unsigned>(preferred)].occupant == nullptr) return preferred;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].occupant == nullptr) return static_cast<int>(i);
  }
  return -1;
}

// The unit of a strand that may run anywhere: the one it had, else a free one, else that with the shortest queue.
int engine::unit_for(strand& s) noexcept {
  if (s.bound >= 0) return s.bound;
  if (const int u = free_unit(s.last_unit); u >= 0) return u;
  const auto shortest = std::min_element(units_.begin(), units_.end(),
                                         [](const unit& a, const unit& b) { return a.queue.size() < b.queue.size(); });
  return static_cast<int>(shortest - units_.begin());
}

void engine::arrive(strand& s) noexcept {
  if (chooser_ != nullptr) {  // only interleavings matter, so each strand has a unit
    s.state = strand_state::ready;
    events_.push(s);
    return;
  }
  const auto index = static_cast<unsigned>(unit_for(s));
  unit& u = units_[index];
  if (u.occupant != nullptr && u.occupant->bound < 0 && s.bound >= 0) {
    // As the kernel balances, an occupant that may run anywhere makes room if there is room elsewhere.
    if (const int elsewhere = free_unit(-1); elsewhere >= 0) {
      strand& moved = *u.occupant;
      moved.unit = moved.last_unit = elsewhere;
      units_[static_cast<unsigned>(elsewhere)].occupant = &moved;
      u.occupant = nullptr;
    }
  }
  s.unit = s.last_unit = static_cast<int>(index);
  if (u.occupant == nullptr) {
    u.occupant = &s;
    s.state = strand_state::ready;
    events_.push(s);
  } else {
    enqueue(index, s);
  }
}

void engine::enqueue(unsigned index, strand& s) noexcept {
  unit& u = units_[index];
  // A strand that slept is owed some time, but not all the time that it slept.
  const picoseconds occupant_used = u.occupant->used;
  s.used = std::max(s.used, occupant_used > settings_.quantum ? occupant_used - settings_.quantum : 0);
  s.state = strand_state::queued;
  s.charge.open = false;
  u.queue.push_back(&s);
  ++queued_;
}

void engine::leave_unit(strand& s) noexcept {
  if (s.unit < 0) return;
  unit& u = units_[static_cast<unsigned>(s.unit)];
  s.unit = -1;
  if (u.occupant != &s) return;
  u.occupant = nullptr;
  if (u.queue.empty() && queued_ != 0) pull_into(u);
  // Without ticks the kernel's switch costs about as much again as falling asleep, which was charged.
  if (!u.queue.empty())
    hand_over(u, s.time, !ticks_.are_heard() ? settings_.times.sleep : settings_.times.kernel_switch);
}

// The kernel balances like this when a unit has nothing left. Of the strands that may run anywhere and wait elsewhere,
// the one that has used the least processor time comes to this unit's queue.
void engine::pull_into(unit& idle) noexcept {
  strand* best = nullptr;
  for (const unit& u : units_) {
    for (strand* const s : u.queue) {
      if (s->bound < 0 && (best == nullptr || s->used < best->used)) best = s;
    }
  }
  if (best == nullptr) return;
  std::erase(units_[static_cast<unsigned>(best->unit)].queue, best);
  best->unit = best->last_unit = static_cast<int>(&idle - units_.data());
  idle.queue.push_back(best);
}

// Gives the unit, which is free since `at`, to the strand in its queue that has used the least processor time.
void engine::hand_over(unit& u, picoseconds at, picoseconds switch_time) noexcept {
  const auto least = std::min_element(u.queue.begin(), u.queue.end(), [](const strand* a, const strand* b) {
    if (a->woken != b->woken) return a->woken;
    return a->used != b->used ? a->used < b->used : a->id < b->id;
  });
  strand& s = **least;
  u.queue.erase(least);
  --queued_;
  u.occupant = &s;
  s.state = strand_state::ready;
  s.woken = false;
  s.time = std::max(s.time, at) + switch_time;
  events_.push(s);
}

// If there are ticks, kernel threads hand units to each other. A strand that is woken for the waker's own unit needs no
// interrupt, and runs when the waker falls asleep. A strand that is woken for another unit runs there at once, like a
// strand that has slept under Linux's completely fair scheduler. Without ticks the order of the queue decides.
picoseconds engine::latency_of_wake(const strand& s) const noexcept {
  return shares_unit(s) ? 0 : settings_.times.wake_latency;
}

void engine::give_way(strand& s) noexcept {
  if (shares_unit(s)) {
    s.used = std::max(s.used, self_->used);
  } else if (ticks_.are_heard() && s.state == strand_state::queued) {
    s.woken = true;
    cut_short(*units_[static_cast<unsigned>(s.unit)].occupant, s.time);
  }
}

// Called when others want the running strand's unit.
void engine::take_turns() noexcept {
  strand& me = *self_;
  unit& u = units_[static_cast<unsigned>(me.unit)];
  const auto waiting = [&](const strand* s) {
    return s->time <= me.time && (s->woken || s->used + settings_.quantum <= me.used);
  };
  if (std::none_of(u.queue.begin(), u.queue.end(), waiting)) return;
  const auto index = static_cast<unsigned>(me.unit);
  u.occupant = nullptr;
  hand_over(u, me.time, settings_.times.kernel_switch);
  enqueue(index, me);
  leave_for_next();
}

void engine::yield() noexcept {
  costs_.take_measured();
  ++counts_.events;
  progress_.end_stretch(*self_);
  spend(activity::search, settings_.times.yield);
  if (chooser_ != nullptr) {
    choose_at_point(true);
  } else {
    if (self_->unit >= 0) {
      unit& u = units_[static_cast<unsigned>(self_->unit)];
      for (const strand* s : u.queue) {
        if (s->time <= self_->time) self_->used = std::max(self_->used, s->used + settings_.quantum);
      }
      if (!u.queue.empty()) take_turns();
    }
    point();
  }
  costs_.mark();
}

int engine::index_of(int number) const noexcept {
  const auto found = std::find_if(settings_.units.begin(), settings_.units.end(),
                                  [number](const unit_description& u) { return u.number == number; });
  return number < 0 || found == settings_.units.end() ? -1 : static_cast<int>(found - settings_.units.begin());
}

int engine::bound_unit() const noexcept {
  return self_->bound < 0 ? -1 : settings_.units[static_cast<std::size_t>(self_->bound)].number;
}

bool engine::bind(int number) noexcept {
  const int index = index_of(number);
  if (number >= 0 && index < 0) return false;
  costs_.take_measured();
  strand& me = *self_;
  me.bound = index;
  if (index >= 0 && me.unit != index && chooser_ == nullptr) {
    leave_unit(me);
    me.state = strand_state::ready;
    arrive(me);
    leave_for_next();
  } else if (chooser_ != nullptr) {
    me.last_unit = index;
  }
  costs_.mark();
  return true;
}

}  // namespace heddle::sim
