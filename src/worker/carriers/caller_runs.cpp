#include "worker/carriers/caller_runs.hpp"

#include "arch/arch.hpp"
#include "base/audit.hpp"
#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "worker/current.hpp"
#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

// How long others may need to fall idle after the last piece of the call.
constexpr unsigned settle_us = 2;

// The worker that this kernel thread had last; any number will do. These variables are the kernel thread's: the
// functions here that touch them do not switch.
constinit thread_local unsigned last_taken __attribute__((tls_model("initial-exec"))) = 0;
constinit thread_local int own_number __attribute__((tls_model("initial-exec"))) = 0;
constinit thread_local bool has_alternate_stack __attribute__((tls_model("initial-exec"))) = false;

// The kernel thread's number, which changes in a child of fork().
[[gnu::noinline]] int number_of_caller() noexcept {
  static const bool changes = [] {
    platform::around_fork([] {}, [] {}, [] { own_number = 0; });
    return true;
  }();
  return changes ? platform::kernel_thread_id() : 0;
}

}  // namespace

// A call, on the stack of the kernel thread that makes it.
struct caller_runs::stay {
  void (*call)(void*) noexcept;
  void* data;
  carrier& by;             // that kernel thread
  thread* self{nullptr};   // runs the call
  bool ended_here{false};  // this kernel thread's own
  // 1 if the call ended on another kernel thread; futex word of this kernel thread.
  std::atomic<std::uint32_t> ended{0};
};

// --- taking a worker -----------------------------------------------------------------------------------------------

bool caller_runs::try_to_take(worker& w) noexcept {  // [caller_runs:1]
  const parker::taken taken = w.parker.take();
  if (taken == parker::taken::no) return false;
  // Two reasons to give it back. retract returned false: a waker has chosen the worker, and its wake-up finds the
  // worker with a caller, or awake. There is a creator: there has been a preemptive thread here, and such threads are
  // for the worker's own carrier.
  if (home_.creator().is_there() || (taken == parker::taken::from_asleep && !home_.sleepers().idle().retract(w.rank))) {
    w.parker.return_awake();
    return false;
  }
  w.caller_run.unlisted = true;
  w.caller_run.own_carrier = w.by;
  trace::emit<trace::event::park_end>(w.ring);
  trace::emit<trace::event::idle_end>(w.ring);
  return true;
}

// Prefers the worker of the processing unit that the caller is on, if workers are bound, else the one that it had last.
worker* caller_runs::take_worker() noexcept {
  if (!allowed_ || home_.creator().is_there() || home_.capacity().pools().in_force()) return nullptr;
  const unsigned last = last_taken < count() ? last_taken : 0;
  const unsigned beside = home_.worker_beside_caller(last);
  const unsigned first = beside < count() ? beside : last;
  for (unsigned i = 0; i < count(); ++i) {
    const unsigned r = (first + i) % count();
    if (!try_to_take(*workers_[r])) continue;
    last_taken = r;
    return workers_[r].get();
  }
  return nullptr;
}

// --- the call ------------------------------------------------------------------------------------------------------

void caller_runs::enter_stay(thread* self) noexcept {
  stay& s = *static_cast<stay*>(self->body.argument);
  begin_user_code(*self);
  s.call(s.data);
  end_user_code(*self);
  worker& w = worker::current();
  census::count_finished(w);
  if (w.by == &s.by) {  // [caller_runs:3]. Straight back, past everything that is ready here
    w.depart(*self, nullptr, [](void*, void* data) { static_cast<stay*>(data)->ended_here = true; }, &s);
    return;
  }
  w.depart(
      *self, w.thread_for(w.pick()),
      [](void* block, void* data) {
        thread& t = *static_cast<thread*>(block);
        worker& here = worker::current();
        if (t.cache != nullptr && t.cache != &here) t.cache->blocks.give_back(t);
        else here.blocks.free_thread(t);
        std::atomic<std::uint32_t>& ended = static_cast<stay*>(data)->ended;
        ended.store(1);
        platform::wake_one(ended);  // the call may be over: only the word's address is used
      },
      &s);
}

// Returns true if nothing else runs here but this call, and everything else that is counted was made by it. A hint.
bool caller_runs::is_alone() const noexcept {
  unsigned with_callers = 0;
  for (const auto& w : workers_) with_callers += parker::is_with_caller(w->parker.look()) ? 1 : 0;
  return home_.census().alive() == 1 && with_callers == 1;
}

// [caller_runs:2]. The call's thread waits or has gone to another worker. Returns a thread that this kernel thread may
// run meanwhile. It only takes work that the call has made, because the call waits for that in any case. Returns null
// if there is no such work, or there was none for too long.
thread* caller_runs::next_of_stay(worker& w, const stay& s) noexcept {
  const std::uint64_t rate = platform::cycles_per_microsecond();
  const std::uint64_t start = platform::cycles();
  std::uint64_t insisted = start;
  for (unsigned round = 1; s.ended.load(std::memory_order_relaxed) == 0; ++round) {  // read again before the return
    if (w.must_pass() || w.caller_run.wants_own_carrier || !w.pinned.empty() || w.is_inactive() || home_.stopping())
      return nullptr;
    home_.time().fire();
    entry item = w.take_newest();  // a fork of the call
    if (item == 0) {
      bool alone = is_alone();
      if (alone) {
        const std::uint64_t now = platform::cycles();
        const bool insist = now - insisted > insist_after_us * rate;
        if (insist) insisted = now;
        item = sources::take<sources::caller>(w, insist ? policy::effort::insist : policy::effort::glance);
      } else if (thread* t = w.ready.pop(); t != nullptr) {
        item = ready_entry(*t);
      }
      if (thread* t = ready_thread(item); t != nullptr && t != s.self) {
        // Another call may have begun: it is counted before its thread is queued.
        if (alone) alone = is_alone();
        if (!alone) {
          w.ready.push(*t);
          return nullptr;
        }
      }
      if (item == 0 && (alone ? sources::any_but_for_callers(w) : sources::any<sources::giving_back>(w)))
        return nullptr;
    }
    if (item != 0) {
      home_.time().delegate();  // [time:2]
      return w.thread_for(item);
    }
    arch::pause();
    if (home_.crowded()) platform::yield_processor();
    if (round % 8 == 0 && platform::cycles() - start > home_.options().spin * rate) return nullptr;
  }
  return nullptr;
}

bool caller_runs::run(void (*call)(void*) noexcept, void* data) noexcept {
  if (allowed_ && !platform::simulated && !has_alternate_stack) {
    platform::provide_alternate_stack();
    has_alternate_stack = true;
  }
  if (own_number == 0) [[unlikely]]
    own_number = number_of_caller();
  worker* w = take_worker();
  if (w == nullptr) return false;
  thread* t = w->blocks.new_block();
  if (t == nullptr) {
    give_back(*w);
    return false;
  }
  carrier mine(home_);
  mine.exceptions = &exception_state::of_this_kernel_thread();
  mine.thread_pointer = arch::thread_pointer();
  mine.assigned = w;
  fiber::describe_native_stack(mine.native);
  const exception_state handled = mine.leave_exceptions();
  w->by = &mine;
  w->caller_run.kernel_thread.store(own_number, std::memory_order_relaxed);  // a number
  w->idle.store(false, std::memory_order_relaxed);                           // ordered by the fence
  std::atomic_thread_fence(std::memory_order_seq_cst);                       // as in worker::find_work
  set_current_queue(w);
  stay s{call, data, mine, t};
  renew_thread(*t, home_);
  t->preemptive = nullptr;
  t->body.argument = &s;
  start_at(*t, t, enter_stay);
  home_.census().count_made(w);
  w->count_pick();
  home_.service_clock().worker_begins();
  for (thread* next = t; next != nullptr;) {
    w->dive(*next);
    w = mine.assigned;
    if (w == nullptr || s.ended_here) break;  // w is null if it has gone, with blocking()
    next = next_of_stay(*w, s);
  }
  if (w != nullptr) {
    if (s.ended_here) w->blocks.free_thread(*t);
    set_current_queue(nullptr);
    give_back(*w);
  }
  base::allow_malloc();
  // acquire pairs with enter_stay: the call's effects. From here on the runtime may be gone.
  while (!s.ended_here && s.ended.load(std::memory_order_acquire) == 0) platform::wait_on(s.ended, 0);
  mine.exceptions->take_back(handled);
  return true;
}

// --- giving it back ------------------------------------------------------------------------------------------------

void caller_runs::wake_own_carrier(worker& w) noexcept {
  w.by = std::exchange(w.caller_run.own_carrier, nullptr);
  w.caller_run.wants_own_carrier = false;
  w.idle.store(true, std::memory_order_relaxed);  // its carrier is in find_work
  trace::emit<trace::event::idle_begin>(w.ring);
  trace::emit<trace::event::park_begin>(w.ring);
  w.parker.return_awake();
}

// [caller_runs:4]. Returns true if there is work here that nobody may look for if the worker sleeps from this point on.
bool caller_runs::must_wake_own_carrier(const worker& w) noexcept {
  return w.caller_run.wants_own_carrier || w.is_inactive() || home_.stopping() || home_.time().lacks_keeper() ||
         sources::any<sources::giving_back>(w);
}

// Returns true if all other workers are idle. A hint, after a short wait.
bool caller_runs::others_fall_idle(const worker& w) const noexcept {
  std::uint64_t limit = 0;
  for (const auto& other : workers_) {
    while (other.get() != &w && !other->idle.load(std::memory_order_relaxed)) {
      if (limit == 0) limit = platform::cycles() + settle_us * platform::cycles_per_microsecond();
      else if (platform::cycles() > limit) return false;
      arch::pause();
      if (home_.crowded()) platform::yield_processor();
    }
  }
  return true;
}

// [caller_runs:5]: [sleep:1] to [sleep:5] of src/sync/sleep.md, without the heavy fence, because all others are idle.
// Returns false if they are not, or something is there; the worker is not listed as asleep then.
bool caller_runs::settle(worker& w) noexcept {
  home_.sleepers().idle().announce(w.rank);  // [sleep:1]
  w.caller_run.unlisted = false;
  bool may = true;
  for (const auto& other : workers_) {
    if (other.get() != &w) queue::request_anew(*other);  // [sleep:2]
  }
  // pairs with the fence of worker::find_work: a busy one is seen here, or we are by it
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const auto& other : workers_) may = may && (other.get() == &w || other->idle.load(std::memory_order_relaxed));
  if (may && !must_wake_own_carrier(w)) return true;  // [sleep:5]
  w.caller_run.unlisted = home_.sleepers().idle().retract(w.rank);
  return false;
}

void caller_runs::give_back(worker& w) noexcept {
  home_.census().check_drained();
  if (w.must_pass()) w.put_back(*std::exchange(w.passing_to, nullptr));
  if (must_wake_own_carrier(w)) return wake_own_carrier(w);  // [caller_runs:4]
  const bool sleeps = w.parker.look() == parker::state::with_caller && others_fall_idle(w) && settle(w);
  if (!sleeps && (!w.caller_run.unlisted || must_wake_own_carrier(w))) return wake_own_carrier(w);
  w.by = std::exchange(w.caller_run.own_carrier, nullptr);
  w.idle.store(true, std::memory_order_relaxed);  // its carrier is in find_work
  trace::emit<trace::event::idle_begin>(w.ring);
  trace::emit<trace::event::park_begin>(w.ring);
  w.parker.return_resting(sleeps);
}

}  // namespace heddle::worker
