// A worker without work: it searches, asks, takes by force, sleeps. src/sync/sleep.md describes how it falls asleep,
// and why it does not sleep beside work: [sleep:1] to [sleep:6], [wake:1] to [wake:4].
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

// A carrier may come back from a thread with a different worker than it went there with, because a preempted thread
// keeps its carrier.
worker::end worker::run(carrier& mine) noexcept {
  for (;;) {
    worker* w = mine.assigned;
    if (w == nullptr) return end::handed_over;  // through return_from_blocking; the worker is somebody else's
    thread* next = nullptr;
    if (!w->must_pass() && !w->rests_) {
      if (w->is_inactive() && w->stands_in != nullptr && !w->home.stopping()) [[unlikely]] {
        w->rest_as_substitute(mine);
        return end::handed_over;
      }
      if (w->is_inactive()) [[unlikely]]
        next = w->stay_inactive();
      if (next == nullptr && !w->must_pass())
        next = w->first != nullptr ? std::exchange(w->first, nullptr) : w->thread_for(w->pick());
    }
    if (next != nullptr || w->must_pass()) w->home.time().delegate();  // [time:2]
    else if (w->leaves_) [[unlikely]] {
      w->leave();
      return end::left;
    } else if (w->stands_in != nullptr) [[unlikely]]
      next = w->find_as_substitute();
    else next = w->find_work();
    if (next != nullptr) {
      w->dive(*next);
      continue;
    }
    if (mine.assigned == nullptr) return end::left;  // it rests, and nothing of it may be touched
    if (w->must_pass()) return w->pass_on(mine);
    if (w->home.stopping()) {  // else it was switched off while it searched
      while (carrier* c = w->spares.take()) c->end();
      return end::stopped;
    }
  }
}

void worker::give_away_all() noexcept {
  const auto give = [this](thread* t) {
    if (t == nullptr) t = std::exchange(passing_to, nullptr);
    if (!make_ready_specially(*t, true)) home.incoming().push(*t);
  };
  while (first != nullptr) give(std::exchange(first, nullptr));
  while (const entry item = sources::take<sources::inactive>(*this)) give(thread_for(item));
}

// The worker is inactive. Everything goes to its pool, in the order in which it would have run here, except pinned
// threads, which run ([pin:5]). Then the carrier sleeps. Returns a thread to run, or null if the worker is active again
// or must_pass names the thread.
thread* worker::stay_inactive() noexcept {
  while (inactive.load() % 2 != 0 && !home.stopping()) {  // seq_cst: before the look into the mailbox, [ask:6]
    give_away_all();
    trace::emit<trace::event::worker_switch_off>(ring);
    home.capacity().pools().rests(of_pool_);
    sources::inbox_threads::announce(home, 0);
    const std::uint32_t seen = inactive.load();           // before the look: a push after it changes the word
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with make_pinned_ready: what was pushed
    if (thread* t = take_pinned(lowest_level); t != nullptr) {
      trace::emit<trace::event::worker_switch_on>(ring);
      return thread_for(ready_entry(*t));
    }
    if (seen % 2 != 0) platform::wait_on(inactive, seen);
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
  bool listed = std::exchange(rests_, false);
  if (!listed || idle.retract(rank)) idle.begin_search();  // else who chose it has counted it, as in sleep
  // pairs with caller_runs::settle through its fence: nothing is queued here
  this->idle.store(true, std::memory_order_relaxed);
  std::uint64_t start = platform::cycles();
  std::uint64_t insisted = start;
  if (home.pollers().are_wanted()) [[unlikely]]
    home.pollers().go_on_searching(*this, start, insisted);
  entry found = 0;
  for (unsigned round = 1; !is_inactive(); ++round) {
    found = look_everywhere(false);
    // In this order, because the thread of a job is not counted. It may have been preempted after all who waited for it
    // have ended, and its kernel thread sleeps until a worker comes to it.
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
      const sleep_end how = sleep();
      if (how == sleep_end::rests) return nullptr;
      if (how == sleep_end::woken) {
        const std::uint64_t slept = platform::cycles() - now;
        // The shortest sleep of late is about the time that waking takes. It is limited by the time to spin, because
        // where all sleeps are long it is no measure. The rest of the gap would have had to be spun.
        const std::uint64_t spin = home.options().spin * rate;
        least_slept_ = std::min({slept, least_slept_ + least_slept_ / 16 + 1, spin});
        if (now - start + slept - least_slept_ < 2 * spin) spin_us_ = 2 * home.options().spin;
        start = insisted = platform::cycles();
      } else {
        spin_us_ = std::max(spin_us_, home.options().spin);  // spinning was not in vain: work comes and goes
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
  // Pairs with the fence of sleepers::wake_one_for: this worker sees what was published. Pairs with the fence of
  // caller_runs::settle: a caller that found this worker idle has posted its request before the next push here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (found != 0 && home.gangs().are_used()) [[unlikely]] {
    // The worker may have found a member of a gang, which spins. The mailbox goes to all: [ask:6].
    while (const entry item = home.host().take_given(rank, rank)) {
      if (thread* t = thread_for(item); t != nullptr) home.incoming().push(*t);
    }
  }
  if (found != 0) home.service_clock().worker_begins();
  if (found == 0) {
    // the worker stops or is inactive: another worker must find what was left to it
    home.sleepers().wake_one_for(rank);
  } else if (idle.anyone_asleep()) {
    leave_search(listed);
    home.time().delegate();  // [time:2]
  }
  if (found != 0 && home.gangs().are_used()) [[unlikely]]
    home.gangs().pass_on();  // a pusher has seen this worker idle, or woken it: [gang:8]
  trace::emit<trace::event::idle_end>(ring);
  return thread_for(found);
}

// Ends with the worker awake. Until then a foreign kernel thread may have the worker, so this function touches nothing
// of it but `parker`: caller_runs.md.
void worker::park() noexcept {
  using state = parker::state;
  static_cast<void>(parker.fall_asleep());  // the loop looks
  for (;;) {
    state now = parker.now();
    if (now == state::awake) return;
    if (now == state::asleep) {
      const platform::nanoseconds deadline = home.time().claim(rank);
      parker.wait(now, deadline);
      if (deadline == 0) continue;
      home.time().leave(rank);
      if (platform::now() >= deadline && parker.wake_for_timer()) return;
      if (parker.is_with_caller()) {
        set_current_queue(nullptr);  // neither the worker nor its trace is ours
        home.time().delegate();
        set_current_queue(this);
      }
      continue;
    }
    if (now == state::with_caller || now == state::wanted) {
      parker.wait(now);
      continue;
    }
    const platform::nanoseconds end = platform::now() + nap;  // [caller_runs:6]
    do {
      parker.wait(now, end);
      now = parker.now();
    } while (now != state::awake && platform::now() < end);
    parker.end_nap(now, now == state::held && sees_something());
  }
}

// Returns saw_something if the last look saw something, so that the worker searches on; woken if it slept and was
// woken, and is counted as searching again; rests if nothing of the worker may be touched any more.
worker::sleep_end worker::sleep() noexcept {
  sync::idle_set& idle = home.sleepers().idle();
  // Another handler has taken the timer's signal. So the tick that would stop the timer does not come.
  if (!platform::arrives(by->timer)) [[unlikely]]
    ticks::stop(*by);
  parker.settle();
  idle.announce(rank);                             // [sleep:1]
  for (unsigned r = 0; r < home.workers(); ++r) {  // [sleep:2]: the next fork or wake-up anywhere is announced
    if (home.host().may_rob(rank, r)) queue::request_anew(home.at(r));
  }
  idle.end_search();        // [sleep:3]
  platform::heavy_fence();  // [sleep:4]
  // [sleep:5]
  const bool work = home.stopping() || is_inactive() || sources::any<sources::before_sleep>(*this);
  if (work && idle.retract(rank)) {
    idle.begin_search();
    parker.stay_awake();  // a waker that did not choose it finds that it looks
    return sleep_end::saw_something;
  }
  trace::emit<trace::event::park_begin>(ring);
  counts.parks.fetch_add(1, std::memory_order_relaxed);  // a statistic
  if (!work) home.census().check_drained();
  if (drives == nullptr) park();  // [sleep:6]
  else if (rest()) return sleep_end::rests;
  // If it was woken for a timer or by the end, or a foreign kernel thread has had it, no waker has counted it.
  if (std::exchange(caller_run.unlisted, false) || idle.retract(rank)) idle.begin_search();
  trace::emit<trace::event::park_end>(ring);
  return sleep_end::woken;
}

// --- an arena's worker: [arena:3] to [arena:5] ---------------------------------------------------------------------

void worker::rest_first(driver& its) noexcept {
  drives = &its;
  pick_slowly(special_threads, true);  // each choice asks whether it leaves
  rests_ = true;
  idle.store(true);
  parker.settle();
  home.sleepers().idle().announce(rank);
  for (unsigned r = 0; r < home.workers(); ++r) queue::request_anew(home.at(r));
  static_cast<void>(parker.fall_asleep());  // nobody sends wake-ups yet
}

// Returns false if a wake-up has come meanwhile.
bool worker::rest() noexcept {
  carrier& mine = *by;
  rests_ = true;
  mine.assigned = nullptr;
  if (parker.fall_asleep()) return true;
  mine.assigned = this;
  rests_ = false;
  return false;
}

void worker::leave() noexcept {
  leaves_ = false;
  by->assigned = nullptr;
  drives->of.want(*drives);
}

bool worker::has_other_work() const noexcept {
  return is_inactive() || home.stopping() || sources::any<sources::giving_back>(*this);
}

// --- what else there is ------------------------------------------------------------------------------------------

bool worker::sees_something() const noexcept {
  return sources::any<sources::nap>(*this) || sources::any_to_rob_for(*this);
}

void worker::leave_search(bool listed) noexcept {
  home.drivers().wake_for_limited(home.sleepers());
  const policy::policy_wants& wants = home.host().wants();
  if (!wants.limits) {
    const bool more = sources::any<sources::leaving_search>(*this) || sources::any_to_rob_for(*this);
    if (more) home.sleepers().wake_one_for(rank);
    return;
  }
  // Where a policy limits which worker may rob which, publishers rely on searchers for common work only. For the rest
  // they rely on workers that they have woken. The entries at this worker were announced to its thieves when they were
  // put there.
  if (sources::any_common(*this)) home.sleepers().wake_one_for(rank);
  if (home.host().has_given(rank)) home.sleepers().wake_thief_of(rank);
  if (listed && wants.work_conserving && home.host().scheduler_policy().may_find(rank)) home.sleepers().wake_any(rank);
}

}  // namespace heddle::worker
