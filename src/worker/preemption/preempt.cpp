// Preemption: the border between user code and the runtime ([section]), what a tick does ([handle_tick]), signal-yield,
// and why all of it may run in a signal handler ([preempt]): preemption.md. KLT-switching: handover.cpp. Source: S.
// Shiina's thesis (docs/papers.md), Section 3.2.
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "arch/arch.hpp"
#include "base/audit.hpp"
#include "base/contracts.hpp"
#include "worker/carriers/handover.hpp"
#include "worker/current.hpp"
#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

using fiber::preemptible;

namespace {

// A preempted thread always goes to this worker's own ready threads, whatever the policy does with threads that wake
// up. These are first in first out, so every preempted thread has its time slice. In a policy's last-in-first-out queue
// two threads that wait for the lock of a third would keep the third from running for ever.
void make_ready_after(void* t, void*) { worker::current().requeue(*static_cast<thread*>(t)); }
// The same for a thread whose time slice was ended by a tick.
void place_after(void* t, void*) { worker::current().requeue_preempted(*static_cast<thread*>(t)); }

}  // namespace

// --- the border between user code and the runtime ------------------------------------------------------------------

void enter_runtime(preemptible& caller) noexcept {
  caller.off.store(true, std::memory_order_relaxed);    // [section:1]
  std::atomic_signal_fence(std::memory_order_seq_cst);  // from here on no tick moves this thread: `on` stays right
  if (caller.block != nullptr) arch::set_thread_pointer(caller.on->by->thread_pointer);  // [section:2]
  base::forbid_malloc("by the runtime, for a preemptive thread");
  caller.on->ticking.evict_below.store(worker::not_evictable, std::memory_order_relaxed);  // a hint
  caller.spun = 0;
  set_current_queue(caller.on);  // [section:3]
}

namespace {

void go_on(preemptible& self) noexcept {
  worker* const w = &worker::current();
  base::allow_malloc();
  self.on = w;  // [section:4]
  if (self.how.preemptive())
    w->home.ticks().want(*w, self.how.technique == preemption::klt_switching, self.slice_lasts_until);  // [section:5]
  if (w->home.precedence().decides() && self.how.preemptive()) [[unlikely]] {
    // a hint
    const bool stays = w->protects_slice() || self.self().ties.belongs.is_seated();
    const int level = self.self().level.load();
    if (w->ticking.runs_low.load(std::memory_order_relaxed) != (level < 0))
      w->ticking.runs_low.store(level < 0);  // own
    w->ticking.evict_below.store(stays ? worker::not_evictable : static_cast<std::int8_t>(level),
                                 std::memory_order_relaxed);
    if (!stays && w->home.precedence().is_used() && !w->is_inactive()) {
      std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with evict_for's: [evict:1]
      // A worker that lacks a carrier gets a tick when there is one. relaxed: a hint; and read by leave_runtime
      if (!w->ticking.lack_carrier.load(std::memory_order_relaxed) && w->home.precedence().any_above(level))
        self.pending.store(true, std::memory_order_relaxed);
    }
  }
  if (self.block != nullptr) arch::set_thread_pointer(self.block->thread_pointer);  // [section:6]
  set_current_queue(&self);                                                         // [section:7]
  std::atomic_signal_fence(std::memory_order_seq_cst);
  self.off.store(false, std::memory_order_relaxed);  // [section:8]: from here on a tick may move it
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

void give_usual_kind(thread& self, preemptible& was) noexcept {
  was.how = self.home->options().threads;
  if (was.how.preemptive()) self.preemptive = &was;
}

// --- ticks ---------------------------------------------------------------------------------------------------------

namespace {

// A preemptive thread does not go on on a foreign kernel thread: there is no timer, and the call for which that kernel
// thread has the worker would have to wait for the time slices of `self`. So `self` goes back among the ready threads,
// and the worker to its own carrier: caller_runs.md.
void keep_off_foreign_kernel_threads(thread& self) noexcept {
  while (worker::current().caller_run.own_carrier != nullptr) [[unlikely]] {
    worker& w = worker::current();
    w.caller_run.wants_own_carrier = true;
    const exception_state handled = w.by->leave_exceptions();
    w.switch_to_run_loop(self, make_ready_after, &self, nullptr);
    take_back_exceptions(handled);
  }
}

// Runs in the runtime, on behalf of `self`: its time slice ends if anything else is ready, [handle_tick:4] and
// [handle_tick:5]. `what`: as for switch_from_preempted.
void end_slice(preemptible& self, platform::interrupted* what) noexcept {
  self.pending.store(false, std::memory_order_relaxed);
  worker& w = worker::current();
  thread& t = self.self();
  const bool gives_way =
      w.ticking.end_slice.load(std::memory_order_relaxed) && w.ticking.end_slice.exchange(false);  // a hint first
  const entry item = w.pick_after_tick(t);
  if (item == 0 && !w.must_look() && !gives_way) return;
  self.waits_since = platform::cycles();
  std::atomic<unsigned>* const members = self.preempted_members.load(std::memory_order_relaxed);  // see there
  if (members != nullptr) members->fetch_add(1, std::memory_order_relaxed);                       // a hint
  bool ended = true;
  if (self.how.technique == preemption::signal_yield) w.switch_from_preempted(t, item, what);
  else ended = switch_carrier(w, t, item);
  if (members != nullptr) members->fetch_sub(1, std::memory_order_relaxed);                 // as above
  if (ended) worker::current().counts.preemptions.fetch_add(1, std::memory_order_relaxed);  // a statistic
}

void leave_runtime(preemptible& self, platform::interrupted* what) noexcept {
  keep_off_foreign_kernel_threads(self.self());
  go_on(self);
  // [section:9]. A timer that ticks once at a time may send no other tick.
  while (self.pending.load(std::memory_order_relaxed)) {
    enter_runtime(self);
    end_slice(self, what);
    go_on(self);
  }
}

// [slice:4]. Returns true if the thread waits in a loop of its own, as far as can be seen from outside.
bool looks_spinning(preemptible& self, const platform::interrupted& what) noexcept {
  if (what.at_pause) return true;
  if (what.state == 0) return false;
  if (std::find(std::begin(self.states), std::end(self.states), what.state) != std::end(self.states)) return true;
  self.states[self.oldest_state] = what.state;
  self.oldest_state = (self.oldest_state + 1) % std::size(self.states);
  return false;
}

// [slice:4]. Called at a tick that interrupts the thread's own code. `spun` is the value from before the tick's handler
// entered the runtime.
bool is_found_spinning(preemptible& self, const platform::interrupted& what, platform::nanoseconds spun,
                       platform::nanoseconds slice) noexcept {
  const bool spins = looks_spinning(self, what);
  if (spins) spun = spun == 0 ? 1 : std::min(spun + slice, 2 * ticks::spinning_counts);
  else spun -= std::min(spun, slice);
  self.spun = static_cast<std::uint32_t>(spun);
  return spins && spun >= ticks::spinning_counts;
}

// Runs on top of whatever this kernel thread does. Async-signal-safe: [preempt:1] to [preempt:9] of preemption.md.
// Unused under ThreadSanitizer, where there is no preemption.
[[maybe_unused]] void handle_tick(void* owner, platform::interrupted& what) noexcept {
  auto* by = static_cast<carrier*>(owner);
  if (by != nullptr && by->ticks.load(std::memory_order_relaxed) == carrier::ticking::once) {
    by->ticks.store(carrier::ticking::no, std::memory_order_relaxed);
  }
  const caller who = caller::now();
  // [handle_tick:1]: there is no worker here. This is a spare carrier, or one in blocking().
  if (who.is_foreign()) return by != nullptr ? ticks::stop(*by) : void();
  if (!who.is_user_code()) {  // [handle_tick:2]: the runtime, or a thread that is not preemptive
    worker& w = who.on();
    thread* t = w.current_thread();
    const bool wanted = t != nullptr && t->preemptive != nullptr && t->preemptive->how.preemptive();
    if (wanted) t->preemptive->pending.store(true, std::memory_order_relaxed);
    return w.home.ticks().came(w, by != nullptr, wanted);
  }
  preemptible& self = who.preemptive();
  // relaxed: `off` and `pending` are written by this kernel thread and its handler alone, with compiler fences around
  if (self.off.load(std::memory_order_relaxed)) {
    self.pending.store(self.how.preemptive(), std::memory_order_relaxed);
    return;
  }
  const platform::nanoseconds spun = self.spun;
  enter_runtime(self);           // [handle_tick:3]
  if (!self.how.preemptive()) {  // it only has storage of its own
    worker::current().home.ticks().came(worker::current(), by != nullptr, false);
    return go_on(self);
  }
  class ticks& ticks = worker::current().home.ticks();
  ticks.came(worker::current(), by != nullptr, true);
  if (ticks.plan().shortens && is_found_spinning(self, what, spun, ticks.slice_on(worker::current())))
    ticks.saw_spinning();
  // a hint: the tick that was sent for `end_slice` comes after it was set
  const bool gives_way = worker::current().ticking.end_slice.load(std::memory_order_relaxed);
  if (!gives_way && ticks.is_early(self, by == nullptr)) return go_on(self);
  self.cut_calls = what.call_cut_short ? std::min(self.cut_calls + 1, 10) : 0;
  // [preempt:8b], [preempt:8c]. The tick is dropped, because nobody would look at `pending`: the timer goes on, or
  // [section:5] arms it again.
  const bool belongs_here = what.on_alternate_stack || what.knows_kernel_thread;
  if (belongs_here && self.how.technique == preemption::signal_yield) return go_on(self);
  end_slice(self, &what);
  ticks.begin_slice(worker::current(), self);
  leave_runtime(self, &what);
}

}  // namespace

void leave_runtime(preemptible& self) noexcept { leave_runtime(self, nullptr); }

// --- signal-yield --------------------------------------------------------------------------------------------------

void worker::switch_from_preempted(thread& self, entry item, platform::interrupted* what) noexcept {
  thread* next = thread_for(item);
  count_pick();
  const exception_state handled = by->leave_exceptions();
  preemptible& p = *self.preemptive;
  if (what != nullptr) {
    p.in_handler = what->frame != nullptr;
    what->stack_low = self.stack->stack_memory.low;
    what->stack_top = self.stack;
    platform::leave_interrupted(*what, by->signals,
                                next != nullptr && next->preemptive != nullptr && next->preemptive->in_handler);
    p.own_signals |= what->own_stack || what->own_mask;
  }
  if (next != nullptr) switch_to(self, *next, place_after, &self, nullptr);
  else switch_to_run_loop(self, place_after, &self, nullptr);
  keep_off_foreign_kernel_threads(self);
  carrier& here = *current().by;
  p.pending.store(false, std::memory_order_relaxed);  // drops a tick that came before its time slice
  if (what != nullptr) {
    p.in_handler = false;
    platform::return_to_interrupted(*what, here.signals);
  }
  here.exceptions->take_back(handled);
}

// --- kinds of threads ----------------------------------------------------------------------------------------------

fiber::kind kind_of(runtime& home, preemption technique, tls storage) {
  fiber::kind how = home.options().threads;
  if (technique != preemption::as_runtime) how.technique = technique;
  if (storage == tls::caller)
    throw std::invalid_argument("heddle: tls::caller: only heddle::run makes a thread that somebody waits for");
  if (storage != tls::as_runtime) how.storage = storage;
  else how.storage = how.preemptive() ? home.options().storage : tls::carrier;
  if (!how.bordered()) return how;
  if (home.arena() != nullptr)
    throw std::system_error(ENOTSUP, std::generic_category(),
                            "heddle: threads of an arena have no preemption and no thread-local storage of their own");
  if (how.storage == tls::own) {
#if defined(HEDDLE_TSAN) || defined(HEDDLE_ASAN)
    const char* why = "sanitizers keep what they know of a thread in its thread-local storage";
#else
    const char* why = platform::why_no_own_tls();
#endif
    if (why == nullptr) forget_blocks_in_children();
    if (why != nullptr)
      throw std::system_error(ENOTSUP, std::generic_category(),
                              std::string("heddle: threads cannot have thread-local storage of their own: ") + why);
  }
  if (!how.preemptive()) {
    home.creator().start();  // for blocks, and for blocking()
    return how;
  }
#if defined(HEDDLE_TSAN)
  throw std::system_error(
      ENOTSUP, std::generic_category(),
      "heddle: no preemption under ThreadSanitizer, which delays signals until the program calls something");
#else
  const int signal = platform::listen_for_ticks(handle_tick);
  if (signal == 0)
    throw std::system_error(ENOTSUP, std::generic_category(), "heddle: this platform cannot interrupt threads");
  home.ticks().come_by(home, signal);
  if (const char* why = platform::why_no_timers(); why != nullptr && home.ticks().plan().timers == nullptr) {
    throw std::system_error(ENOTSUP, std::generic_category(), std::string("heddle: no preemptive threads: ") + why);
  }
  {
    const section inside;
    home.ticks().know_cost();
  }
  home.creator().start();  // for blocking(), whatever the technique
  base::preemption_is_used([]() noexcept {
    const caller who = caller::now();
    // relaxed: the caller's own
    if (!who.is_user_code()) return false;
    const preemptible& self = who.preemptive();
    return self.how.preemptive() && !self.off.load(std::memory_order_relaxed);
  });
  preemption_is_used.store(true, std::memory_order_relaxed);  // as has_preemption says
  return how;
#endif
}

}  // namespace heddle::worker
