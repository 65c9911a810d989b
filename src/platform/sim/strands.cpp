// The beginnings, sleeps, wake-ups and ends of strands.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <new>

#include "arch/arch.hpp"
#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "platform/sim/engine.hpp"
#include "platform/sim/weak_memory.hpp"

namespace heddle::sim {

// --- strands -----------------------------------------------------------------------------------------------------

strand* engine::start(void (*entry)(void*), void* argument, const char* name, int number) noexcept {
  charge(activity::scheduler, settings_.times.wake);
  auto* s = new (std::nothrow) strand;
  if (s == nullptr) return nullptr;
  s->context.stack = platform::reserve(stack_bytes);
  if (s->context.stack == nullptr) {
    delete s;
    return nullptr;
  }
  platform::install_guard(s->context.stack, platform::page_size());
  s->id = static_cast<unsigned>(strands_.size());
  std::snprintf(s->name, sizeof s->name, "%s", name);
  s->bound = index_of(number);
  s->context.entry = entry;
  s->context.argument = argument;
  s->time = self_->time + settings_.times.wake_latency;
  s->context.stack_pointer = arch::prepare(static_cast<char*>(s->context.stack) + stack_bytes, run, s);
  strands_.emplace_back(s);
  if (weak_memory* const w = weak(); w != nullptr) w->pass_on(self_->id, s->id);
  arrive(*s);
  return s;
}

void engine::run(void* self) {
  auto& me = *static_cast<strand*>(self);
  here().costs_.mark();
  me.context.entry(me.context.argument);
  here().end_self();
}

void engine::end_self() noexcept {
  costs_.take_measured();
  strand& me = *self_;
  me.state = strand_state::ended;
  ticks_.forget(me);
  leave_unit(me);
  wake(&me, ~0u);
  switch_to(next(), &me);
  HEDDLE_CHECK(false, "a simulated kernel thread went on after its end");
}

void engine::join(strand& s) noexcept {
  while (s.state != strand_state::ended) sleep(&s, never);
  if (weak_memory* const w = weak(); w != nullptr) w->pass_on(s.id, self_->id);
}

void engine::keep_only_self() noexcept {
  while (!events_.empty()) events_.pop();
  std::fill(buckets_.begin(), buckets_.end(), nullptr);
  for (unit& u : units_) u = {nullptr, {}, u.slowness};
  for (const auto& s : strands_) {
    if (s.get() != self_) s->state = strand_state::ended;
    ticks_.forget(*s);  // timers are not inherited
  }
  if (self_->unit >= 0) units_[static_cast<unsigned>(self_->unit)].occupant = self_;
}

// --- sleeping and waking -----------------------------------------------------------------------------------------

strand*& engine::sleepers_of(const void* word) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(word);
  return buckets_[(bits * 0x9e3779b97f4a7c15u) >> 54];
}

void engine::remove_sleeper(strand& s) noexcept {
  strand** link = &sleepers_of(s.sleeps.on);
  while (*link != &s) link = &(*link)->sleeps.next;
  *link = s.sleeps.next;
  s.sleeps.next = nullptr;
  s.sleeps.on = nullptr;
  s.state = strand_state::ready;
}

// The strand slept, and has left the list of sleepers. It is on its way to a unit.
void engine::resume(strand& s) noexcept {
  if (s.place != strand::nowhere) events_.remove(s);
  s.time = self_->time + latency_of_wake(s);
  arrive(s);
  give_way(s);
}

bool engine::sleep(const void* word, picoseconds deadline) noexcept {
  strand& me = *self_;
  ++counts_.sleeps;
  ++counts_.events;
  progress_.end_stretch(*self_);
  me.sleeps.on = word;
  me.timed_out = false;
  strand** link = &sleepers_of(word);
  while (*link != nullptr) link = &(*link)->sleeps.next;
  *link = &me;
  leave_unit(me);
  me.state = strand_state::asleep;
  latest_ = std::max(latest_, me.time);
  if (const picoseconds until = std::min(deadline, me.ticks.next); until != never) {
    me.time = std::max(me.time, until);
    events_.push(me);
  }
  leave_for_next();
  const bool late = me.timed_out && me.time >= deadline;
  if (me.ticks.next <= me.time) [[unlikely]]
    ticks_.take();  // may go on on another strand
  costs_.mark();
  return !late;
}

unsigned engine::wake(const void* word, unsigned most) noexcept {
  ++counts_.events;
  unsigned woken = 0;
  for (strand** link = &sleepers_of(word); *link != nullptr && woken < most;) {
    strand& s = **link;
    if (s.sleeps.on != word) {
      link = &s.sleeps.next;
      continue;
    }
    *link = s.sleeps.next;
    s.sleeps.next = nullptr;
    s.sleeps.on = nullptr;
    s.state = strand_state::ready;
    ++woken;
    ++counts_.wakes;
    resume(s);
  }
  return woken;
}

}  // namespace heddle::sim
