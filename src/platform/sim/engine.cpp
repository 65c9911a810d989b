// Points and charges: the clock of the running strand, and which strand runs next.
#include "platform/sim/engine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <heddle/detail/fork_queue.hpp>

#include "arch/arch.hpp"
#include "platform/platform.hpp"
#include "platform/sim/explorer.hpp"
#include "platform/sim/weak_memory.hpp"

namespace heddle::sim {

engine* active = nullptr;

namespace {

constexpr std::size_t bucket_count = 1024;              // power of two
constexpr std::uint64_t most_quiet_points = 1'000'000;  // points of nothing but waiting and user code

}  // namespace

engine& begin_default() {
  static engine made{configuration{}};
  active = &made;
  return made;
}

engine::engine(configuration c, explorer* chooser)
    : settings_(std::move(c)),
      chooser_(chooser),
      costs_(*this),
      ticks_(*this),
      buckets_(bucket_count, nullptr),
      exceptions_(base::exception_state::of_this_kernel_thread()) {
  for (const unit_description& u : settings_.units) units_.push_back({nullptr, {}, 1 / u.speed});
  strands_.push_back(std::make_unique<strand>());
  self_ = strands_.front().get();
  std::strcpy(self_->name, "main");
  self_->time = origin;
  self_->unit = self_->last_unit = 0;
  units_[0].occupant = self_;
  if (settings_.charge != charging::annotations && chooser_ == nullptr) costs_.begin_to_measure();
}

engine::~engine() {
  for (const auto& s : strands_) {
    if (s->context.stack != nullptr && s.get() != self_) platform::release(s->context.stack, stack_bytes);
  }
  if (active == this) active = nullptr;
}

// --- time --------------------------------------------------------------------------------------------------------

// Carriers run the program while a user-level thread is on them. Kernel threads that the runtime did not make always
// run the program.
bool engine::in_program() const noexcept {
  if (heddle_current_queue != nullptr) return heddle_current_queue->running != nullptr;
  return self_->context.entry == nullptr;
}

void engine::advance(activity what, picoseconds cost) noexcept {
  for (;;) {
    picoseconds step = std::min(cost, settings_.quantum);
    if (self_->ticks.next < self_->time + step) [[unlikely]]
      step = self_->ticks.next > self_->time ? self_->ticks.next - self_->time : 0;
    spend(what, step);
    cost -= step;
    self_->charge.open = true;
    self_->charge.as = what;
    if (unit_is_wanted()) [[unlikely]]
      take_turns();
    point();
    self_->charge.open = false;
    if (ticks_.are_heard()) [[unlikely]]
      cost = ticks_.rest_after(cost);
    if (cost == 0) return;
  }
}

// Nothing that `s` does after its charge has happened yet, so the charge may end at `to`. The rest is owed.
void engine::cut_short(strand& s, picoseconds to) noexcept {
  if (chooser_ != nullptr || !s.charge.open || s.state != strand_state::ready || s.place == strand::nowhere ||
      s.time <= to)
    return;
  const picoseconds cut = std::min(s.time - to, s.used);
  events_.remove(s);
  s.time -= cut;
  s.used -= cut;
  s.spent[static_cast<unsigned>(s.charge.as)] -= std::min(cut, s.spent[static_cast<unsigned>(s.charge.as)]);
  s.charge.owed += cut;
  events_.push(s);
}

void engine::spin(picoseconds cost) noexcept {
  costs_.take_measured();
  ++counts_.events;
  progress_.end_stretch(*self_);
  self_->at_pause = true;
  if (chooser_ != nullptr) [[unlikely]] {
    spend(activity::search, cost);
    choose_at_point(true);
  } else {
    advance(activity::search, scaled(cost));
  }
  // This belongs to the strand on which it goes on. The flag of the strand that it left was reset in ticks::take.
  self_->at_pause = false;
  costs_.mark();
}

void engine::spin_in_program(picoseconds cost) noexcept {
  if (chooser_ != nullptr && self_->ticks.next == never && chooser_->rests()) {  // for others a tick is on its way
    progress_.end_stretch(*self_);
    self_->rests_until = chooser_->end_of_rest();
    go_to_earliest();
    self_->rests_until = 0;
  }
  spin(cost);
}

bool engine::watches_forks() const noexcept { return chooser_ == nullptr || !chooser_->leaves_fast_paths(); }

bool engine::reminds() noexcept { return chooser_ != nullptr && chooser_->reminds(); }

weak_memory* engine::weak() const noexcept { return chooser_ == nullptr ? nullptr : chooser_->weak(); }

void engine::interleave() noexcept {
  if (chooser_ == nullptr) return;
  constexpr picoseconds step = nanosecond;  // clocks must move, or a loop that waits for one would not end
  spend(activity::search, step);
  choose_at_point(false);
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
  if (progress_.stands_still(chooser_->points(), most_quiet_points)) [[unlikely]]
    explored_stall();
  if (must_switch) go_to_earliest();
  if (self_->ticks.next != never) [[unlikely]]
    ticks_.take_at_explored_point();
}

// Returns the strand that is next. A deadline that comes before it ends the sleep of its strand.
strand& engine::next() noexcept {
  if (events_.empty()) deadlock();
  if (chooser_ != nullptr) return choose();
  strand& first = events_.pop();
  return first.state == strand_state::ready ? first : after_deadline(first);
}

// The earliest event is a deadline, which ends its strand's sleep. Returns the strand that is next after that.
strand& engine::after_deadline(strand& s) noexcept {
  s.timed_out = true;
  remove_sleeper(s);
  arrive(s);
  return next();
}

// Chooses in no order of time, except that a deadline waits until it is the earliest of all that could happen.
strand& engine::choose() noexcept {
  std::array<strand*, 256> candidates;
  std::size_t found = 0;
  const auto collect = [&](bool held_back_too) {
    for (const auto& [time, s] : events_.all()) {
      const bool due = s->state == strand_state::ready || s == &events_.top();
      const bool stays = s->rests_until > chooser_->points();
      if (due && !stays && (held_back_too || s->held_back <= chooser_->points()) && found < candidates.size())
        candidates[found++] = s;
    }
  };
  collect(false);
  if (found == 0) collect(true);
  if (found == 0) {
    end_rests();
    collect(true);
  }
  strand& chosen = *candidates[chooser_->choose(found)];
  events_.remove(chosen);
  if (chosen.state != strand_state::ready) {
    chosen.timed_out = true;
    remove_sleeper(chosen);
  }
  return chosen;
}

// No strand is on the way to anything: all sleep, or rest in user code. The promise that a runtime makes for such
// moments has to hold.
void engine::end_rests() noexcept {
  for (const auto& s : strands_) s->rests_until = 0;
  explorer* const chooser = std::exchange(chooser_, nullptr);  // these looks are no points
  for (const runtime_note& note : runtimes_) {
    if (note.end == never && note.is_broken != nullptr && note.is_broken(note.runtime)) broken_promise(note);
  }
  chooser_ = chooser;
}

void engine::leave_for_next() noexcept { switch_to(next()); }

void engine::switch_to(strand& s, strand* ended) noexcept {
  if (&s == self_) return;
  strand& from = *self_;
  ++counts_.switches;
  latest_ = std::max(latest_, from.time);
  from.saved.queue = heddle_current_queue;
  from.saved.exceptions = exceptions_;
  from.saved.error = errno;
  std::copy(std::begin(heddle_foreign_slots), std::end(heddle_foreign_slots), from.saved.slots);
  self_ = &s;
  heddle_current_queue = s.saved.queue;
  exceptions_ = s.saved.exceptions;
  errno = s.saved.error;
  std::copy(std::begin(s.saved.slots), std::end(s.saved.slots), heddle_foreign_slots);
  heddle_switch(
      &from.context.stack_pointer, s.context.stack_pointer,
      [](void* done, void*) {
        if (done == nullptr) return;
        auto& over = *static_cast<strand*>(done);
        platform::release(std::exchange(over.context.stack, nullptr), stack_bytes);
      },
      ended, nullptr);
}

}  // namespace heddle::sim
