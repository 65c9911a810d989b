#include "platform/sim/engine.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <heddle/detail/fork_queue.hpp>

#include "arch/arch.hpp"
#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "platform/sim/explorer.hpp"

namespace heddle::sim {

engine* active = nullptr;

namespace {

constexpr std::size_t bucket_count = 1024;              // power of two
constexpr std::uint64_t explored_patience = 1'000'000;  // points of waiting and of user code alone

}  // namespace

engine& begin_default() {
  static engine made{configuration{}};
  active = &made;
  return made;
}

engine::engine(configuration c, explorer* chooser)
    : settings_(std::move(c)),
      chooser_(chooser),
      buckets_(bucket_count, nullptr),
      exceptions_(base::exception_state::of_this_kernel_thread()) {
  for (const unit_description& u : settings_.units) units_.push_back({nullptr, {}, 1 / u.speed});
  strands_.push_back(std::make_unique<strand>());
  self_ = strands_.front().get();
  std::strcpy(self_->name, "main");
  self_->time = origin;
  self_->unit = self_->last_unit = 0;
  units_[0].occupant = self_;
  measures_ = settings_.charge != charging::annotations && chooser_ == nullptr;
  if (measures_) meter_.start();
}

engine::~engine() {
  for (const auto& s : strands_) {
    if (s->stack != nullptr && s.get() != self_) platform::release(s->stack, stack_bytes);
  }
  if (active == this) active = nullptr;
}

// --- time --------------------------------------------------------------------------------------------------------

// Carriers run the program while a user-level thread is on them;
// kernel threads that the runtime did not make always do.
bool engine::in_program() const noexcept {
  if (heddle_current_queue != nullptr) return heddle_current_queue->running != nullptr;
  return self_->entry == nullptr;
}

void engine::measure() noexcept {
  const picoseconds took = meter_.lap();
  if (in_program()) spend(activity::program, scaled(took));
}

void engine::declare_costs() noexcept {
  if (settings_.charge != charging::automatic || !measures_) return;
  measures_ = false;
  if (strands_.size() > 1) return;
  // Static initialisation of the program: nothing has been told of it, so it was free.
  self_->time = origin;
  self_->used = 0;
  self_->spent[0] = 0;
}

void engine::advance(activity what, picoseconds cost) noexcept {
  for (;;) {
    picoseconds step = std::min(cost, settings_.quantum);
    if (self_->next_tick < self_->time + step) [[unlikely]]
      step = self_->next_tick > self_->time ? self_->next_tick - self_->time : 0;
    spend(what, step);
    cost -= step;
    self_->computing = true;
    self_->charged_as = what;
    if (self_->unit >= 0 && !units_[static_cast<unsigned>(self_->unit)].queue.empty()) [[unlikely]]
      take_turns();
    point();
    self_->computing = false;
    if (listener_ != nullptr) [[unlikely]]
      cost = rest_after_ticks(cost);
    if (cost == 0) return;
  }
}

void engine::spin(picoseconds cost) noexcept {
  take_measured();
  ++counts_.events;
  end_stretch();
  if (chooser_ != nullptr) [[unlikely]] {
    spend(activity::search, cost);
    choose_at_point(true);
  } else {
    advance(activity::search, scaled(cost));
  }
  mark();
}

void engine::interleave() noexcept {
  if (chooser_ == nullptr) return;
  constexpr picoseconds step = nanosecond;  // clocks move, or a loop that waits for one would not end
  spend(activity::search, step);
  choose_at_point(false);
}

void engine::cycles(double n) noexcept {
  self_->told = true;
  if (n > 0) charge(activity::program, static_cast<picoseconds>(n * 1000 / settings_.frequency + 0.5));
}

void engine::access(std::uint64_t address, std::uint64_t bytes, bool write) noexcept {
  self_->told = true;
  if (settings_.access == nullptr || bytes == 0) return;
  take_measured();
  const std::uint64_t end = address + bytes;
  while (address < end) {
    point();  // accesses of all units are served in the order of their time
    ++counts_.events;
    ++progress_;
    const std::uint64_t step = std::min(access_step - address % access_step, end - address);
    const int on = self_->unit < 0 ? self_->last_unit : self_->unit;
    const picoseconds took = settings_.access(settings_.memory, static_cast<unsigned>(std::max(on, 0)), address, step,
                                              write, self_->time - origin);
    advance(activity::program, took);
    address += step;
  }
  mark();
}

void engine::access_rows(rows* sets, std::size_t set_count, std::uint64_t count) noexcept {
  self_->told = true;
  if (settings_.access_rows == nullptr) return;
  take_measured();
  std::uint64_t bytes = 1;
  for (std::size_t i = 0; i < set_count; ++i) bytes += sets[i].bytes;
  // In steps long enough that the lines of a leaf overlap, and short beside what the memory model keeps of the past.
  const std::uint64_t most = std::max<std::uint64_t>(16 * access_step / bytes, 1);
  for (std::uint64_t left = count; left != 0;) {
    point();
    ++counts_.events;
    ++progress_;
    const std::uint64_t step = std::min(most, left);
    const int on = self_->unit < 0 ? self_->last_unit : self_->unit;
    advance(activity::program, settings_.access_rows(settings_.memory, static_cast<unsigned>(std::max(on, 0)), sets,
                                                     set_count, step, self_->time - origin));
    for (std::size_t i = 0; i < set_count; ++i) sets[i].address += step * sets[i].stride;
    left -= step;
  }
  mark();
}

void engine::go_to_earliest() noexcept {
  strand& me = *self_;
  if (chooser_ != nullptr) [[unlikely]] {
    events_.push(me);
    return switch_to(next());
  }
  strand& first = events_.exchange(me);
  switch_to(first.state == strand_state::ready ? first : after_deadline(first));
}

void engine::choose_at_point(bool must_switch) noexcept {
  if (chooser_->preempts()) {
    self_->held_back = chooser_->points() + chooser_->hold_back();
    must_switch = true;
  }
  if (progress_ != seen_progress_) {
    seen_progress_ = progress_;
    quiet_since_ = chooser_->points();
  } else if (chooser_->points() - quiet_since_ > explored_patience) [[unlikely]] {
    explored_stall();
  }
  if (must_switch) go_to_earliest();
  if (self_->next_tick != never) [[unlikely]]
    tick_at_explored_point();
}

// The strand whose turn it is; deadlines that come before it end the sleep of theirs.
strand& engine::next() noexcept {
  if (events_.empty()) deadlock();
  if (chooser_ != nullptr) return choose();
  strand& first = events_.pop();
  return first.state == strand_state::ready ? first : after_deadline(first);
}

// A sleep ended by its deadline, the earliest event; then whose turn it is.
strand& engine::after_deadline(strand& s) noexcept {
  s.timed_out = true;
  remove_sleeper(s);
  arrive(s);
  return next();
}

// In no order of time, only that a deadline waits until it is the earliest of all that could happen.
strand& engine::choose() noexcept {
  std::array<strand*, 256> candidates;
  std::size_t found = 0;
  for (const bool held_back_too : {false, true}) {
    for (const auto& [time, s] : events_.all()) {
      const bool due = s->state == strand_state::ready || s == &events_.top();
      if (due && (held_back_too || s->held_back <= chooser_->points()) && found < candidates.size())
        candidates[found++] = s;
    }
    if (found != 0) break;
  }
  strand& chosen = *candidates[chooser_->choose(found)];
  events_.remove(chosen);
  if (chosen.state != strand_state::ready) {
    chosen.timed_out = true;
    remove_sleeper(chosen);
  }
  return chosen;
}

void engine::leave_for_next() noexcept { switch_to(next()); }

void engine::switch_to(strand& s, strand* ended) noexcept {
  if (&s == self_) return;
  strand& from = *self_;
  ++counts_.switches;
  latest_ = std::max(latest_, from.time);
  from.queue = heddle_current_queue;
  from.exceptions = exceptions_;
  from.error = errno;
  self_ = &s;
  heddle_current_queue = s.queue;
  exceptions_ = s.exceptions;
  errno = s.error;
  heddle_switch(
      &from.stack_pointer, s.stack_pointer,
      [](void* done, void*) {
        if (done == nullptr) return;
        auto& over = *static_cast<strand*>(done);
        platform::release(std::exchange(over.stack, nullptr), stack_bytes);
      },
      ended, nullptr);
}

// --- strands -----------------------------------------------------------------------------------------------------

strand* engine::start(void (*entry)(void*), void* argument, const char* name, int number) noexcept {
  charge(activity::scheduler, settings_.times.wake);
  auto* s = new (std::nothrow) strand;
  if (s == nullptr) return nullptr;
  s->stack = platform::reserve(stack_bytes);
  if (s->stack == nullptr) {
    delete s;
    return nullptr;
  }
  platform::install_guard(s->stack, platform::page_size());
  s->id = static_cast<unsigned>(strands_.size());
  std::snprintf(s->name, sizeof s->name, "%s", name);
  s->bound = index_of(number);
  s->entry = entry;
  s->argument = argument;
  s->time = self_->time + settings_.times.wake_latency;
  s->stack_pointer = arch::prepare(static_cast<char*>(s->stack) + stack_bytes, run, s);
  strands_.emplace_back(s);
  arrive(*s);
  return s;
}

void engine::run(void* self) {
  auto& me = *static_cast<strand*>(self);
  here().mark();
  me.entry(me.argument);
  here().end_self();
}

void engine::end_self() noexcept {
  take_measured();
  strand& me = *self_;
  me.state = strand_state::ended;
  forget_ticks(me);
  leave_unit(me);
  wake(&me, ~0u);
  switch_to(next(), &me);
  HEDDLE_CHECK(false, "a simulated kernel thread went on after its end");
}

void engine::join(strand& s) noexcept {
  while (s.state != strand_state::ended) sleep(&s, never);
}

void engine::keep_only_self() noexcept {
  while (!events_.empty()) events_.pop();
  std::fill(buckets_.begin(), buckets_.end(), nullptr);
  for (unit& u : units_) u = {nullptr, {}, u.slowness};
  for (const auto& s : strands_) {
    if (s.get() != self_) s->state = strand_state::ended;
    forget_ticks(*s);  // timers are not inherited
  }
  if (self_->unit >= 0) units_[static_cast<unsigned>(self_->unit)].occupant = self_;
}

// --- sleeping and waking -----------------------------------------------------------------------------------------

strand*& engine::sleepers_of(const void* word) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(word);
  return buckets_[(bits * 0x9e3779b97f4a7c15u) >> 54];
}

void engine::remove_sleeper(strand& s) noexcept {
  strand** link = &sleepers_of(s.word);
  while (*link != &s) link = &(*link)->next;
  *link = s.next;
  s.next = nullptr;
  s.word = nullptr;
  s.state = strand_state::ready;
}

bool engine::sleep(const void* word, picoseconds deadline) noexcept {
  strand& me = *self_;
  ++counts_.sleeps;
  ++counts_.events;
  end_stretch();
  me.word = word;
  me.timed_out = false;
  strand** link = &sleepers_of(word);
  while (*link != nullptr) link = &(*link)->next;
  *link = &me;
  leave_unit(me);
  me.state = strand_state::asleep;
  latest_ = std::max(latest_, me.time);
  if (const picoseconds until = std::min(deadline, me.next_tick); until != never) {
    me.time = std::max(me.time, until);
    events_.push(me);
  }
  leave_for_next();
  const bool late = me.timed_out && me.time >= deadline;
  if (me.next_tick <= me.time) [[unlikely]]
    take_tick();  // may go on on another strand
  mark();
  return !late;
}

unsigned engine::wake(const void* word, unsigned most) noexcept {
  ++counts_.events;
  unsigned woken = 0;
  for (strand** link = &sleepers_of(word); *link != nullptr && woken < most;) {
    strand& s = **link;
    if (s.word != word) {
      link = &s.next;
      continue;
    }
    *link = s.next;
    s.next = nullptr;
    s.word = nullptr;
    s.state = strand_state::ready;
    if (s.place != strand::nowhere) events_.remove(s);
    s.time = self_->time + latency_of_wake(s);
    ++woken;
    ++counts_.wakes;
    arrive(s);
    give_way(s);
  }
  return woken;
}

}  // namespace heddle::sim
