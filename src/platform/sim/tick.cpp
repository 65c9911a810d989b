// A timer's tick comes when the clock of its strand has reached the timer's time. A sent tick comes when that clock has
// reached the sender's time. Both come at a point, as a plain call. The configuration gives the cost of a signal. The
// seam of platform.hpp over this stands at the end.
#include "platform/sim/tick.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "platform/platform.hpp"
#include "platform/sim/engine.hpp"
#include "platform/sim/explorer.hpp"

namespace heddle::sim {

namespace {

// The first time on the timer's grid that is later than `time`. Ticks that were missed meanwhile come as one.
picoseconds next_after(picoseconds tick, picoseconds interval, picoseconds time) noexcept {
  if (interval == 0) return never;
  return tick > time ? tick : tick + ((time - tick) / interval + 1) * interval;
}

}  // namespace

int ticks::make_timer(void* owner) {
  const auto free = std::find_if(timers_.begin(), timers_.end(), [](const timer& t) { return t.target == nullptr; });
  const auto index = static_cast<int>(free - timers_.begin());
  if (free == timers_.end()) timers_.push_back({});
  timers_[static_cast<std::size_t>(index)] = {&engine_.self(), owner, never, 0};
  return index;
}

void ticks::set_timer(int number, picoseconds first, picoseconds interval) noexcept {
  engine_.charge(activity::scheduler, engine_.settings().times.signal_send);
  timer& t = timers_[static_cast<std::size_t>(number)];
  if (t.target == nullptr) return;
  t.next = first == 0 ? never : first;
  t.interval = interval;
  find_next(*t.target);
}

void ticks::drop_timer(int number) noexcept {
  timer& t = timers_[static_cast<std::size_t>(number)];
  strand* const target = std::exchange(t.target, nullptr);
  if (target != nullptr) find_next(*target);
}

void ticks::send(unsigned number) noexcept {
  engine_.charge(activity::scheduler, engine_.settings().times.signal_send);
  if (number >= engine_.strands().size() || engine_.strands()[number]->state == strand_state::ended) return;
  strand& s = *engine_.strands()[number];
  s.ticks.sent = std::min(s.ticks.sent, engine_.self().time);  // a sent tick that has not been delivered yet absorbs it
  find_next(s);
  interrupt(s);
}

void ticks::find_next(strand& s) noexcept {
  s.ticks.next = never;
  if (s.ticks.held) return;
  s.ticks.next = s.ticks.sent;
  for (const timer& t : timers_) {
    if (t.target == &s) s.ticks.next = std::min(s.ticks.next, t.next);
  }
}

// A tick was sent to `s`, which does not run. Ends its sleep, or cuts in two its charge that lasts until later.
void ticks::interrupt(strand& s) noexcept {
  if (&s == &engine_.self() || s.ticks.next == never) return;
  if (s.state == strand_state::asleep) {
    engine_.remove_sleeper(s);
    engine_.resume(s);
    return;
  }
  engine_.cut_short(s, std::max(s.ticks.next, engine_.self().time));
}

void ticks::forget(strand& s) noexcept {
  for (timer& t : timers_) {
    if (t.target == &s) t.target = nullptr;
  }
  s.ticks.next = s.ticks.sent = never;
}

picoseconds ticks::rest_after(picoseconds rest) noexcept {
  if (engine_.self().charge.owed != 0) {
    rest += std::exchange(engine_.self().charge.owed, 0);
    if (engine_.unit_is_wanted()) engine_.take_turns();
  }
  if (engine_.self().ticks.next > engine_.self().time) return rest;
  const double before = engine_.slowness();
  take();
  const double now = engine_.slowness();
  return now == before ? rest : static_cast<picoseconds>(static_cast<double>(rest) * now / before + 0.5);
}

void ticks::take_at_explored_point() noexcept {
  if (engine_.self().ticks.next > engine_.self().time && !engine_.chooser_->ticks()) return;
  take();
}

void ticks::take() noexcept {
  void* owner = nullptr;
  {
    strand& me = engine_.self();
    timer* earliest = nullptr;
    for (timer& t : timers_) {
      if (t.target == &me && (earliest == nullptr || t.next < earliest->next)) earliest = &t;
    }
    if (earliest == nullptr || me.ticks.sent <= earliest->next) {
      me.ticks.sent = never;
    } else {
      owner = earliest->owner;
      earliest->next = next_after(earliest->next, earliest->interval, me.time);
    }
    ++engine_.counts().ticks;
    me.ticks.held = true;
    me.ticks.next = never;
    if (engine_.chooser_ == nullptr) {
      // [tick:2]: delivery takes a lock of the process, so signals that come at the same time wait for each other.
      const picoseconds wait = signal_lock_free_ > me.time ? signal_lock_free_ - me.time : 0;
      signal_lock_free_ = me.time + wait + engine_.scaled(engine_.settings().times.signal_lock);
      ++engine_.counts().events;
      engine_.progress_.end_stretch(me);
      engine_.advance(activity::scheduler, wait + engine_.scaled(engine_.settings().times.signal));
      engine_.costs_.mark();
    }
    // A timer that is faster than delivery brings one tick, not all that are due, because there would be no end of
    // them.
    me.ticks.held = false;
    for (timer& t : timers_) {
      if (t.target == &me && t.interval != 0) t.next = next_after(t.next, t.interval, me.time);
    }
    find_next(me);
  }
  const int error = errno;
  platform::interrupted what;
  what.at_pause = std::exchange(engine_.self().at_pause, false);
  listener_(owner, what);
  errno = error;
}

}  // namespace heddle::sim

namespace heddle::platform {

// The number is not 0, which means nobody.
int kernel_thread_id() noexcept { return static_cast<int>(sim::here().self().id) + 1; }

int listen_for_ticks(void (*handler)(void*, interrupted&) noexcept) noexcept {
  sim::here().ticks().listen(handler);
  return 1;
}

void send_tick(int kernel_thread) noexcept { sim::here().ticks().send(static_cast<unsigned>(kernel_thread) - 1); }

const char* make(tick_timer& out, void* owner, const tick_source*) noexcept {
  try {
    out.id = sim::here().ticks().make_timer(owner);
    return nullptr;
  } catch (const std::bad_alloc&) {
    return "no memory";
  }
}
const char* why_no_timers() noexcept { return nullptr; }

void set(const tick_timer& timer, nanoseconds first, nanoseconds interval) noexcept {
  sim::here().ticks().set_timer(timer.id, first * sim::nanosecond, interval * sim::nanosecond);
}

void drop(tick_timer& timer) noexcept {
  if (timer.id >= 0) sim::here().ticks().drop_timer(timer.id);
  timer.id = -1;
}

bool arrives(const tick_timer&) noexcept { return true; }

// There are no signals, so a strand has no signal state that a context could take along.
void leave_interrupted(interrupted&, signal_state&, bool) noexcept {}
void return_to_interrupted(interrupted&, signal_state&) noexcept {}
std::uint64_t blocked_signals() noexcept { return 0; }
void take_signals(signal_state&) noexcept {}

nanoseconds cost_of_tick() noexcept { return 0; }  // the model's figures are the machine's

const char* why_no_own_tls() noexcept { return "simulated kernel threads share one block"; }
own_tls* make_own_tls(unsigned) noexcept { return nullptr; }
void begin_own_tls(own_tls&) noexcept {}
bool end_own_tls(own_tls&) noexcept { return true; }
unsigned leave_rseq(void*) noexcept { return 0; }
void enter_rseq(void*, unsigned) noexcept {}

int signal_of_ticks() noexcept { return 0; }

// No strand wakes a strand that sleeps here: only a tick ends the sleep.
void sleep_until_tick(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  sim::engine& e = sim::here();
  e.charge(sim::activity::search, e.settings().times.sleep);
  const int nobody_wakes_this = 0;
  while (word.load() == expected) e.sleep(&nobody_wakes_this, sim::never);
}

}  // namespace heddle::platform
