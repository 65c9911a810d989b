// Ticks in virtual time. A timer's tick comes when the clock of its strand has reached the timer's time, a tick that
// was sent when it has reached the sender's time; both at a point, as a plain call. What a signal costs is told by the
// configuration. README.md, [tick:1] to [tick:4]. At the end the seam of platform.hpp over that.
#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "platform/platform.hpp"
#include "platform/sim/engine.hpp"
#include "platform/sim/explorer.hpp"

namespace heddle::sim {

namespace {

// The first time on the timer's grid that is later than `time`: ticks that were missed meanwhile come as one.
picoseconds next_after(picoseconds tick, picoseconds interval, picoseconds time) noexcept {
  if (interval == 0) return never;
  return tick > time ? tick : tick + ((time - tick) / interval + 1) * interval;
}

}  // namespace

void engine::listen(void (*handler)(void*, platform::interrupted&) noexcept) noexcept { listener_ = handler; }

int engine::make_timer(void* owner) {
  const auto free =
      std::find_if(timers_.begin(), timers_.end(), [](const tick_timer& t) { return t.target == nullptr; });
  const auto index = static_cast<int>(free - timers_.begin());
  if (free == timers_.end()) timers_.push_back({});
  timers_[static_cast<std::size_t>(index)] = {self_, owner, never, 0};
  return index;
}

void engine::set_timer(int timer, picoseconds first, picoseconds interval) noexcept {
  charge(activity::scheduler, settings_.times.signal_send);
  tick_timer& t = timers_[static_cast<std::size_t>(timer)];
  if (t.target == nullptr) return;
  t.next = first == 0 ? never : first;
  t.interval = interval;
  find_next_tick(*t.target);
}

void engine::drop_timer(int timer) noexcept {
  tick_timer& t = timers_[static_cast<std::size_t>(timer)];
  strand* const target = std::exchange(t.target, nullptr);
  if (target != nullptr) find_next_tick(*target);
}

void engine::send_tick(unsigned number) noexcept {
  charge(activity::scheduler, settings_.times.signal_send);
  if (number >= strands_.size() || strands_[number]->state == strand_state::ended) return;
  strand& s = *strands_[number];
  s.ticks.sent = std::min(s.ticks.sent, self_->time);  // one that has not been delivered yet takes it in
  find_next_tick(s);
  interrupt(s);
}

void engine::find_next_tick(strand& s) noexcept {
  s.ticks.next = never;
  if (s.ticks.held) return;
  s.ticks.next = s.ticks.sent;
  for (const tick_timer& t : timers_) {
    if (t.target == &s) s.ticks.next = std::min(s.ticks.next, t.next);
  }
}

// A tick was sent to `s`, which does not run: its sleep ends, or its charge that lasts until later is cut in two.
void engine::interrupt(strand& s) noexcept {
  if (&s == self_ || s.ticks.next == never) return;
  if (s.state == strand_state::asleep) {
    remove_sleeper(s);
    if (s.place != strand::nowhere) events_.remove(s);
    s.time = self_->time + latency_of_wake(s);
    arrive(s);
    give_way(s);
    return;
  }
  cut_short(s, std::max(s.ticks.next, self_->time));
}

// Nothing of what `s` does after its charge has happened yet, so the charge may end at `to`; the rest is owed.
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

void engine::forget_ticks(strand& s) noexcept {
  for (tick_timer& t : timers_) {
    if (t.target == &s) t.target = nullptr;
  }
  s.ticks.next = s.ticks.sent = never;
}

// Where there are ticks, kernel threads hand units to each other. A strand that is woken for the waker's own unit needs
// no interrupt to come, and has its turn when the waker falls asleep. One that is woken for another's unit has its turn
// there at once, as one that has slept has under Linux's completely fair scheduler; without ticks the order of turns
// decides.
picoseconds engine::latency_of_wake(const strand& s) const noexcept {
  return shares_unit(s) ? 0 : settings_.times.wake_latency;
}

void engine::give_way(strand& s) noexcept {
  if (shares_unit(s)) {
    s.used = std::max(s.used, self_->used);
  } else if (listener_ != nullptr && s.state == strand_state::queued) {
    s.woken = true;
    cut_short(*units_[static_cast<unsigned>(s.unit)].occupant, s.time);
  }
}

// In advance(), after a step: takes the tick that is due. What is left of the charge, for the strand on which it goes
// on.
picoseconds engine::rest_after_ticks(picoseconds rest) noexcept {
  if (self_->charge.owed != 0) {
    rest += std::exchange(self_->charge.owed, 0);
    if (self_->unit >= 0 && !units_[static_cast<unsigned>(self_->unit)].queue.empty()) take_turns();
  }
  if (self_->ticks.next > self_->time) return rest;
  const auto slowness = [this] { return self_->unit < 0 ? 1.0 : units_[static_cast<unsigned>(self_->unit)].slowness; };
  const double before = slowness();
  take_tick();
  const double now = slowness();
  return now == before ? rest : static_cast<picoseconds>(static_cast<double>(rest) * now / before + 0.5);
}

void engine::tick_at_explored_point() noexcept {
  if (self_->ticks.next > self_->time && !chooser_->ticks()) return;
  take_tick();
}

// Delivers the running strand's next tick now. The handler may leave this stack, and return on another strand.
void engine::take_tick() noexcept {
  void* owner = nullptr;
  {
    strand& me = *self_;
    tick_timer* earliest = nullptr;
    for (tick_timer& t : timers_) {
      if (t.target == &me && (earliest == nullptr || t.next < earliest->next)) earliest = &t;
    }
    if (earliest == nullptr || me.ticks.sent <= earliest->next) {
      me.ticks.sent = never;
    } else {
      owner = earliest->owner;
      earliest->next = next_after(earliest->next, earliest->interval, me.time);
    }
    ++counts_.ticks;
    me.ticks.held = true;
    me.ticks.next = never;
    if (chooser_ == nullptr) {
      // [tick:2]: delivery takes a lock of the process, so signals that come at once wait for each other.
      const picoseconds wait = signal_lock_free_ > me.time ? signal_lock_free_ - me.time : 0;
      signal_lock_free_ = me.time + wait + scaled(settings_.times.signal_lock);
      ++counts_.events;
      end_stretch();
      advance(activity::scheduler, wait + scaled(settings_.times.signal));
      mark();
    }
    // A timer that is faster than delivery brings one tick, not all that it should have: there would be no end of them.
    me.ticks.held = false;
    for (tick_timer& t : timers_) {
      if (t.target == &me && t.interval != 0) t.next = next_after(t.next, t.interval, me.time);
    }
    find_next_tick(me);
  }
  const int error = errno;
  platform::interrupted what;
  listener_(owner, what);
  errno = error;
}

}  // namespace heddle::sim

namespace heddle::platform {

// Not 0, which is nobody.
int kernel_thread_id() noexcept { return static_cast<int>(sim::here().self().id) + 1; }

int listen_for_ticks(void (*handler)(void*, interrupted&) noexcept) noexcept {
  sim::here().listen(handler);
  return 1;
}

void send_tick(int kernel_thread) noexcept { sim::here().send_tick(static_cast<unsigned>(kernel_thread) - 1); }

const char* make(tick_timer& out, void* owner, const tick_source*) noexcept {
  try {
    out.id = sim::here().make_timer(owner);
    return nullptr;
  } catch (const std::bad_alloc&) {
    return "no memory";
  }
}
const char* why_no_timers() noexcept { return nullptr; }

void set(const tick_timer& timer, nanoseconds first, nanoseconds interval) noexcept {
  sim::here().set_timer(timer.id, first * sim::nanosecond, interval * sim::nanosecond);
}

void drop(tick_timer& timer) noexcept {
  if (timer.id >= 0) sim::here().drop_timer(timer.id);
  timer.id = -1;
}

bool arrives(const tick_timer&) noexcept { return true; }

// There are no signals: a strand has nothing that a context could take along.
void leave_interrupted(interrupted&, signal_state&, bool) noexcept {}
void return_to_interrupted(interrupted&, signal_state&) noexcept {}
std::uint64_t blocked_signals() noexcept { return 0; }
void take_signals(signal_state&) noexcept {}

const char* why_no_own_tls() noexcept { return "simulated kernel threads share one block"; }
own_tls* make_own_tls(unsigned) noexcept { return nullptr; }
void begin_own_tls(own_tls&) noexcept {}
bool end_own_tls(own_tls&) noexcept { return true; }
unsigned leave_rseq(void*) noexcept { return 0; }
void enter_rseq(void*, unsigned) noexcept {}

}  // namespace heddle::platform
