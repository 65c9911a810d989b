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

namespace heddle::sim {

engine* active = nullptr;

namespace {

constexpr std::size_t bucket_count = 1024;              // power of two
constexpr std::uint64_t most_quiet_points = 1'000'000;  // points of waiting and of user code alone

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
    if (s->context.stack != nullptr && s.get() != self_) platform::release(s->context.stack, stack_bytes);
  }
  if (active == this) active = nullptr;
}

// --- time --------------------------------------------------------------------------------------------------------

// Carriers run the program while a user-level thread is on them;
// kernel threads that the runtime did not make always do.
bool engine::in_program() const noexcept {
  if (heddle_current_queue != nullptr) return heddle_current_queue->running != nullptr;
  return self_->context.entry == nullptr;
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
    if (self_->ticks.next < self_->time + step) [[unlikely]]
      step = self_->ticks.next > self_->time ? self_->ticks.next - self_->time : 0;
    spend(what, step);
    cost -= step;
    self_->charge.open = true;
    self_->charge.as = what;
    if (self_->unit >= 0 && !units_[static_cast<unsigned>(self_->unit)].queue.empty()) [[unlikely]]
      take_turns();
    point();
    self_->charge.open = false;
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
  self_->stretch.told = true;
  if (n <= 0) return;
  self_->cycles_told += n;
  charge(activity::program, static_cast<picoseconds>(n * 1000 / settings_.frequency + 0.5));
}

void engine::access(std::uint64_t address, std::uint64_t bytes, bool write) noexcept {
  self_->stretch.told = true;
  if (settings_.access == nullptr || bytes == 0) return;
  take_measured();
  const std::uint64_t end = address + bytes;
  while (address < end) {
    point();  // accesses of all units are served in the order of their time
    ++counts_.events;
    ++progress_;
    const std::uint64_t step = std::min(access_step - address % access_step, end - address);
    const auto on = static_cast<unsigned>(std::max(self_->unit < 0 ? self_->last_unit : self_->unit, 0));
    const picoseconds took =
        counted(on, [&] { return settings_.access(settings_.memory, on, address, step, write, self_->time - origin); });
    advance(activity::program, took);
    address += step;
  }
  mark();
}

void engine::access_rows(rows* sets, std::size_t set_count, std::uint64_t count) noexcept {
  self_->stretch.told = true;
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
    const auto on = static_cast<unsigned>(std::max(self_->unit < 0 ? self_->last_unit : self_->unit, 0));
    advance(activity::program, counted(on, [&] {
              return settings_.access_rows(settings_.memory, on, sets, set_count, step, self_->time - origin);
            }));
    for (std::size_t i = 0; i < set_count; ++i) sets[i].address += step * sets[i].stride;
    left -= step;
  }
  mark();
}

// Others use the unit's caches, too, so what the unit has counted is nobody's own.
picoseconds engine::counted_access(unsigned on, picoseconds (*access)(void*), void* of) noexcept {
  memory_counts before, after;
  settings_.counts(settings_.memory, on, before);
  const picoseconds took = access(of);
  settings_.counts(settings_.memory, on, after);
  memory_counts& mine = self_->memory;
  mine.private_misses += after.private_misses - before.private_misses;
  mine.shared_misses += after.shared_misses - before.shared_misses;
  mine.local += after.local - before.local;
  mine.remote += after.remote - before.remote;
  return took;
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
  } else if (chooser_->points() - quiet_since_ > most_quiet_points) [[unlikely]] {
    explored_stall();
  }
  if (must_switch) go_to_earliest();
  if (self_->ticks.next != never) [[unlikely]]
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
