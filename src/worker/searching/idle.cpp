// What a worker does without work: search, ask, take by force, sleep. How it falls asleep, and why it does not sleep
// beside work, is argued in src/sync/sleep.md: [sleep:1] to [sleep:6], [wake:1] to [wake:4].
#include <algorithm>
#include <utility>

#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "worker/current.hpp"
#include "worker/inline.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

constexpr unsigned least_spin_us = 2;
constexpr platform::nanoseconds nap = 500'000;  // of a carrier whose worker is held for a foreign kernel thread

}  // namespace

// `mine` may come back from a thread with another worker than it went there with: a preempted thread keeps its carrier.
worker::end worker::run(carrier& mine) noexcept {
  for (;;) {
    worker* w = mine.assigned;
    if (w == nullptr) return end::lent;  // through return_from_blocking; the worker is somebody else's
    thread* next = nullptr;
    if (!w->must_pass()) {
      if (w->stands_aside()) [[unlikely]]
        next = w->stand_aside();
      if (next == nullptr && !w->must_pass())
        next = w->first != nullptr ? std::exchange(w->first, nullptr) : w->thread_for(w->pick());
    }
    if (next != nullptr || w->must_pass()) w->home.time().delegate();  // [time:2]
    else next = w->find_work();
    if (next != nullptr) {
      w->dive(*next);
      continue;
    }
    if (w->must_pass()) return w->pass_on(mine);
    if (w->home.stopping()) return end::stopped;  // else it was switched off while it searched
  }
}

// Everything goes to its pool, in the order in which it would have run here, but for pinned threads, which run
// ([pin:5]); then the carrier sleeps. Null: the worker stands aside no more, or the one to run is met by must_pass.
thread* worker::stand_aside() noexcept {
  while (aside.load() % 2 != 0 && !home.stopping()) {  // seq_cst: before the look into the box, [ask:6]
    const auto give = [this](thread* t) {
      if (t == nullptr) t = std::exchange(passing_to, nullptr);
      if (!make_ready_specially(*t, true)) home.incoming().push(*t);
    };
    while (first != nullptr) give(std::exchange(first, nullptr));
    while (const entry item = sources::take<sources::inactive>(*this)) give(thread_for(item));
    trace::emit<trace::event::worker_switch_off>(ring);
    home.capacity().pools().rests(turns_);
    sources::inbox_threads::announce(home, 0);
    const std::uint32_t seen = aside.load();              // before the look: who comes after it changes it
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with make_pinned_ready: what was pushed
    if (thread* t = take_pinned(lowest_level); t != nullptr) {
      trace::emit<trace::event::worker_switch_on>(ring);
      return thread_for(ready_entry(*t));
    }
    if (seen % 2 != 0) platform::wait_on(aside, seen);
    trace::emit<trace::event::worker_switch_on>(ring);
  }
  return nullptr;
}

bool worker::leaves_inbox() const noexcept {
  return leaves_inbox_until != 0 && platform::cycles() < leaves_inbox_until;
}

entry worker::look_everywhere(bool insist) noexcept {
  home.time().fire();
  if (raised_seen_ != home.precedence().raised()) [[unlikely]]
    sort_ready();
  return sources::take<sources::search>(*this, insist ? policy::effort::insist : policy::effort::glance);
}

thread* worker::find_work() noexcept {
  sync::idle_set& idle = home.sleepers().idle();
  const std::uint64_t rate = platform::cycles_per_microsecond();
  trace::emit<trace::event::idle_begin>(ring);
  idle.begin_search();
  // pairs with lending::settle through its fence: nothing is queued here
  this->idle.store(true, std::memory_order_relaxed);
  std::uint64_t start = platform::cycles();
  std::uint64_t insisted = start;
  if (home.pollers().are_wanted()) [[unlikely]]
    home.pollers().go_on_searching(*this, start, insisted);
  entry found = 0;
  bool listed = false;
  for (unsigned round = 1; !stands_aside(); ++round) {
    found = look_everywhere(false);
    // In this order: the thread of a job, which nobody counts, may have been preempted after all who waited for it have
    // ended, and its kernel thread sleeps until somebody comes to it.
    if (found != 0 || home.stopping()) break;
    arch::pause();
    if (home.crowded() || leaves_inbox()) platform::yield_processor();
    if (round % 8 != 0) continue;
    const std::uint64_t now = platform::cycles();
    if (now - insisted > insist_after_us * rate) {
      insisted = now;
      found = look_everywhere(true);
      if (found != 0) break;
    }
    if (now - start > spin_us_ * rate) {
      spin_us_ = std::max(spin_us_ / 2, least_spin_us);
      listed = true;
      if (sleep()) {
        const std::uint64_t slept = platform::cycles() - now;
        // The shortest sleep of late is about what waking takes, but not more than the time to spin: where all sleeps
        // are long it is no measure. Without that, how long would have had to be spun?
        const std::uint64_t spin = home.options().spin * rate;
        least_slept_ = std::min({slept, least_slept_ + least_slept_ / 16 + 1, spin});
        if (now - start + slept - least_slept_ < 2 * spin) spin_us_ = 2 * home.options().spin;
        start = insisted = platform::cycles();
      } else {
        spin_us_ = std::max(spin_us_, home.options().spin);  // it was not in vain: work comes and goes
        start = platform::cycles();
        insisted = start - insist_after_us * rate;  // something is there that glances do not find
      }
    } else if (home.pollers().are_wanted()) [[unlikely]] {  // after it has insisted, and not in place of its sleep
      found = home.pollers().ask(*this);
      if (found == 0) continue;
      home.pollers().interrupt_search(*this, start, insisted);
      break;
    }
  }
  idle.end_search();
  this->idle.store(false, std::memory_order_relaxed);  // ordered by the fence
  // Pairs with the fences of sleepers::wake_one_for: what was published; and
  // of lending::settle: who finds us idle has asked us before our next push.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (found != 0 && home.gangs().are_used()) [[unlikely]] {
    // It may be a member of a gang, that spins; what was given meanwhile is for all: [ask:6].
    while (const entry item = home.host().take_given(rank, rank)) {
      if (thread* t = thread_for(item); t != nullptr) home.incoming().push(*t);
    }
  }
  if (found == 0) {
    // stopped or switched off: what was left to this one is somebody else's to find
    home.sleepers().wake_one_for(rank);
  } else if (idle.anyone_asleep()) {
    leave_search(listed);
    home.time().delegate();  // [time:2]
  }
  if (found != 0 && home.gangs().are_used()) [[unlikely]]
    home.gangs().pass_on();  // who pushed has seen this worker idle, or woken it: [gang:8]
  trace::emit<trace::event::idle_end>(ring);
  return thread_for(found);
}

// Ends with the worker awake. Until then others may have it, so nothing of it is touched here but `token`: lending.md.
void worker::wait_for_token() noexcept {
  using state = token::state;
  token.fall_asleep();
  for (;;) {
    state now = token.now();
    if (now == state::awake) return;
    if (now == state::asleep) {
      const platform::nanoseconds deadline = home.time().claim(rank);
      token.wait(now, deadline);
      if (deadline == 0) continue;
      home.time().leave(rank);
      if (platform::now() >= deadline && token.wake_for_timer()) return;
      if (token.is_lent()) {
        set_current_queue(nullptr);  // the worker is not ours, its trace neither
        home.time().delegate();
        set_current_queue(this);
      }
      continue;
    }
    if (now == state::lent || now == state::wanted) {
      token.wait(now);
      continue;
    }
    const platform::nanoseconds end = platform::now() + nap;  // [borrow:6]
    do {
      token.wait(now, end);
      now = token.now();
    } while (now != state::awake && platform::now() < end);
    token.end_nap(now, now == state::held && sees_something());
  }
}

// False: something was seen at the last look; search again. True: slept and was woken; counted as searching again.
bool worker::sleep() noexcept {
  sync::idle_set& idle = home.sleepers().idle();
  // Somebody has taken the timer's signal, so the tick that would stop it, finding no preemptive thread, does not come.
  if (!platform::arrives(by->timer)) [[unlikely]]
    ticks::stop(*by);
  token.settle();
  idle.announce(rank);                             // [sleep:1]
  for (unsigned r = 0; r < home.workers(); ++r) {  // [sleep:2]: the next fork or wake-up anywhere is announced
    if (home.host().may_rob(rank, r)) queue::request_anew(home.at(r));
  }
  idle.end_search();        // [sleep:3]
  platform::heavy_fence();  // [sleep:4]
  // [sleep:5]
  const bool work = home.stopping() || stands_aside() || sources::any<sources::before_sleep>(*this);
  if (work && idle.retract(rank)) {
    idle.begin_search();
    token.stay_awake();  // whoever woke it unasked finds that it looks
    return false;
  }
  trace::emit<trace::event::park_begin>(ring);
  counts.parks.fetch_add(1, std::memory_order_relaxed);  // a statistic
  if (!work) home.census().check_drained();
  wait_for_token();  // [sleep:6]
  // Woken for a timer or by the end, or a foreign kernel thread has had the worker: nobody has counted us.
  if (std::exchange(loan.unlisted, false) || idle.retract(rank)) idle.begin_search();
  trace::emit<trace::event::park_end>(ring);
  return true;
}

// --- what else there is ------------------------------------------------------------------------------------------

// Of what others have, was given to this worker, or is nobody's in particular; but for the policy's own. As
// policy_host::has_queued.
bool worker::sees_something() const noexcept {
  bool has = sources::any<sources::nap>(*this);
  for (unsigned r = 0; !has && r < home.workers(); ++r) has = home.host().may_rob(rank, r) && home.host().has_queued(r);
  return has;
}

void worker::leave_search(bool listed) noexcept {
  const policy::policy_wants& wants = home.host().wants();
  if (!wants.limits) {
    bool more = sources::any<sources::leaving_search>(*this);
    for (unsigned r = 0; !more && r < home.workers(); ++r) more = r != rank && home.host().has_queued(r);
    if (more) home.sleepers().wake_one_for(rank);
    return;
  }
  // Where it is limited who robs whom nobody relies on those that search, but for common work; others rely on those
  // that were woken. What stands at this worker itself was announced to thieves when it was put there.
  if (sources::any_common(*this)) home.sleepers().wake_one_for(rank);
  if (home.host().has_given(rank)) home.sleepers().wake_thief_of(rank);
  if (listed && wants.greedy && home.host().scheduler_policy().may_find(rank)) home.sleepers().wake_any(rank);
}

}  // namespace heddle::worker
