// The boundaries of computations, at which a worker lets other threads run that have waited: service.md.
#include <algorithm>
#include <utility>

#include "platform/explored.hpp"
#include "platform/platform.hpp"
#include "worker/exceptions.hpp"
#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

// --- choices -------------------------------------------------------------------------------------------------------

// [service:4]. Every 61st pick is a fair choice, and the first one after the bound has passed. Where picks are short
// the clock is looked at as seldom as that.
bool worker_agenda::is_fair_choice_now(std::uint64_t count) noexcept {
  const std::uint64_t now = platform::cycles();
  if (count >= fair_pick_ + fairness_interval || now >= serves_at.load(std::memory_order_relaxed)) return true;  // own
  const std::uint64_t took = now - std::exchange(looked_at_, now);
  if (took > bound / 4) look_every_ = std::max(look_every_ / 8, 1u);
  else if (took < bound / 32) look_every_ = std::min(2 * look_every_, fairness_interval);
  looks_at_pick_ = std::min<std::uint64_t>(count + look_every_, fair_pick_ + fairness_interval);
  return false;
}

void worker_agenda::note_fair_choice(std::uint64_t count) noexcept {
  const std::uint64_t now = platform::cycles();
  serves_at.store(now + bound, std::memory_order_relaxed);  // own, as all such stores but in remind
  if (now - std::exchange(looked_at_, now) > bound / 4) look_every_ = std::max(look_every_ / 8, 1u);
  fair_pick_ = count;
  looks_at_pick_ = count + look_every_;
}

// True unless something stands above a thread of the normal level that has given way to what waited.
bool worker_agenda::interrupted_goes_first() const noexcept {
  if (is_inactive() || leaves_) return false;
  return pinned.empty() && !home.capacity().pools().in_force() &&
         !(home.precedence().is_used() && home.levels().any_high(1));
}

// A choice for which there are reasons to take the slow path.
entry worker_agenda::pick_slowly_marked(const thread* stays) noexcept {
  const unsigned why = picks_specially.load(std::memory_order_relaxed);  // seen at the next look
  if (home.precedence().decides() && home.gangs().are_used()) [[unlikely]]
    leave_to_gangs(stays);  // before whatever is chosen
  if ((why & has_interrupted) != 0) {
    pick_slowly(has_interrupted, false);
    // A thief may have taken it, and it may be gone.
    if (thread* const t = std::exchange(interrupted_, nullptr);
        t != nullptr && interrupted_goes_first() && ready.take_if_oldest(*t)) {
      count_pick();
      return ready_entry(*t);
    }
  }
  if ((why & something_waits) != 0) {
    serves_at.store(platform::cycles() + bound, std::memory_order_relaxed);  // own
    pick_slowly(something_waits, false);
    count_pick();
    if (const entry item = pick_waiting(stays); item != 0 || must_look()) return item;
  }
  return (why & special_threads) != 0 ? pick_specially(stays, count_pick()) : pick_ordinarily();
}

// As a choice when a time slice has ended, but nothing comes from the worker's own queue.
entry worker_agenda::pick_waiting(const thread* stays) noexcept {
  looks_elsewhere_ = false;
  slice_level_ = 0;
  if (is_inactive() || leaves_ || caller_run.own_carrier != nullptr) return 0;
  if (home.precedence().is_used()) {
    aging_.end_slice();
    if (raised_seen_ != home.precedence().raised()) sort_ready();
    home.time().fire();  // perhaps of a thread of a high level that slept
    if (const entry item = pick_starved(stays); item != 0) return item;
    const int level = stays != nullptr ? stays->level.load() : lowest_level;
    if (thread* t = take_high(std::max(level, 1)); t != nullptr) return ready_entry(*t);
    if (level > 0) return 0;
    aging_.normal_has_its_slice();
  }
  if (thread* t = take_pinned_alternating(); t != nullptr) return ready_entry(*t);
  policy_first_ = !policy_first_;
  if (policy_first_) {
    if (const entry item = pick_of_policy(); item != 0) return item;
  }
  if (const entry item = pick_fairly(); item != 0) return item;
  if (const entry item = pick_fairly(); item != 0) return item;  // it was the turn of the other sources
  if (!policy_first_) {
    if (const entry item = pick_of_policy(); item != 0) return item;
  }
  thread* t = take_pinned(0);
  return t != nullptr ? ready_entry(*t) : 0;
}

// [service:6]. A thread that has been sent to the policy may stand behind whatever else the policy has for this worker.
entry worker_agenda::pick_of_policy() noexcept {
  const unsigned sent = home.host().threads_sent();
  if (!policy_may_have_thread()) return 0;
  policy::policy& scheduler = home.host().scheduler_policy();
  entry item = scheduler.pick(rank, false);
  if (item == 0) item = scheduler.pick(rank, true);
  if (item == 0) policy_has_none_of_.store(sent, std::memory_order_relaxed);  // a hint to others
  return item;
}

bool worker_agenda::policy_may_have_thread() const noexcept {
  // a hint, and the worker's own
  return home.host().wants().picks && home.host().threads_sent() != policy_has_none_of_.load(std::memory_order_relaxed);
}

bool worker_agenda::something_waits_here() noexcept {
  return home.time().is_due() || home.pollers().are_wanted() || sources::any<sources::overdue>(whole()) ||
         policy_may_have_thread();
}

// --- a boundary ----------------------------------------------------------------------------------------------------

// [service:3]. `t` goes on as soon as what it has given way to waits or ends, unless that takes longer than a bound.
void worker_agenda::come_after_served(thread& t) noexcept {
  if (queues_specially.load(std::memory_order_relaxed)) [[unlikely]] {  // as in make_ready
    if (make_ready_specially(t, true)) return;
  }
  ready.push_front(t);
  interrupted_ = &t;
  pick_slowly(has_interrupted, true);
  tell_of_ready();
}

bool worker_agenda::serve() noexcept {
  thread* const self = current_thread();
  const std::uint64_t start = platform::cycles();
  serves_at.store(start + bound, std::memory_order_relaxed);  // own
  if (is_reminded()) pick_slowly(something_waits, false);
  if (platform::is_left_out(platform::step::service, platform::all_boundaries)) return false;
  const bool retires = stands_in != nullptr && is_inactive();
  if (self->ties.belongs.is_seated() || (!retires && !something_waits_here())) return false;
  base::exception_state handled;
  if (retires || caller_run.own_carrier != nullptr) {
    // A substitute gives its thread to the others. The call of a foreign kernel thread must not wait for the turns of
    // others: the worker's carrier takes over.
    caller_run.wants_own_carrier = !retires;
    pick_slowly(something_waits, !retires);
    handled = by->leave_exceptions();
    whole().switch_to_run_loop(
        *self, [](void* t, void*) { worker::current().requeue(*static_cast<thread*>(t)); }, self, nullptr);
    take_back_exceptions(handled);
    return true;
  }
  if (interrupted_ != nullptr) {  // the caller itself was served, and its turn is over
    thread* const before = std::exchange(interrupted_, nullptr);
    pick_slowly(has_interrupted, false);
    if (ready.take_if_oldest(*before)) ready.push(*before);
  }
  thread* const next = thread_for(pick_waiting(self));
  if (next == nullptr && !must_pass()) return false;
  constexpr auto after = [](void* t, void*) { worker::current().come_after_served(*static_cast<thread*>(t)); };
  handled = by->leave_exceptions();
  if (next != nullptr) switch_to(*self, *next, after, self, nullptr);
  else switch_to_run_loop(*self, after, self, nullptr);
  take_back_exceptions(handled);
  // The caller gets as much time as what it has given way to had, but no more than the bound.
  worker& here = worker::current();
  const std::uint64_t now = platform::cycles();
  here.serves_at.store(now + std::min(here.bound, now - start), std::memory_order_relaxed);  // own
  return true;
}

// --- by other kernel threads ---------------------------------------------------------------------------------------

bool worker_agenda::remind(std::uint64_t now) noexcept {
  if (idle.load(std::memory_order_relaxed)) return false;            // a hint
  if (now < serves_at.load(std::memory_order_relaxed)) return true;  // a hint
  serves_at.store(0, std::memory_order_relaxed);                     // a hint
  pick_slowly(something_waits, true);
  queue::poison_limits(*this);
  return true;
}

}  // namespace heddle::worker

namespace heddle::detail {

void serve_what_waits() noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_foreign() || who.is_user_code()) return;  // ticks serve for a preemptive thread
  static_cast<void>(who.on().serve());
}

}  // namespace heddle::detail
