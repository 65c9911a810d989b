// The primitives of <heddle/detail/wait.hpp>: how threads of this runtime and foreign kernel threads wait.
#include <heddle/detail/crowd.hpp>
#include <heddle/detail/wait.hpp>

#include "base/audit.hpp"
#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "worker/diagnosis/foreign_waits.hpp"
#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

using worker::thread;

// Values of waiter::asleep for a user-level thread in suspend_until; it is 0 in suspend.
constexpr std::uint32_t phase_committing = 1;
constexpr std::uint32_t phase_committed = 2;
constexpr std::uint32_t phase_resumed = 3;

struct suspension {
  waiter* w;
  bool (*commit)(void*, waiter&) noexcept;
  void* argument;
  thread* self;
};

// Runs on the next context's stack: the thread is complete in memory and may be resumed from here on.
void commit_suspension(void* data, void*) {
  const suspension s = *static_cast<suspension*>(data);  // on self's stack, which is ours until commit succeeds
  if (s.commit(s.argument, *s.w)) return;
  worker::worker::current().make_ready(*s.self);
}

platform::nanoseconds to_platform(std::chrono::steady_clock::time_point time) noexcept {
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  return count <= 0 ? 1 : static_cast<platform::nanoseconds>(count);  // steady_clock and now() are both CLOCK_MONOTONIC
}

void sleep_foreign(waiter& w, platform::nanoseconds deadline) noexcept {
  // acquire pairs with resume: what the waker did before
  while (w.asleep.load(std::memory_order_acquire) == 0) {
    platform::wait_on(w.asleep, 0, deadline);
    if (deadline == 0 || w.asleep.load(std::memory_order_acquire) != 0) continue;  // pairs with resume
    if (platform::now() < deadline || !claim(w, wake_reason::timed_out)) {
      if (w.reason.load() != 0) deadline = 0;  // a waker has claimed it: its resume is on the way
      continue;
    }
    return;
  }
}

wake_reason reason_of(const waiter& w) noexcept { return static_cast<wake_reason>(w.reason.load()); }

}  // namespace

wake_reason suspend(waiter& w, bool (*commit)(void*, waiter&) noexcept, void* argument) noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_foreign()) {
    const worker::foreign_wait told(w);
    if (commit(argument, w)) sleep_foreign(w, 0);
    return reason_of(w);
  }
  if (who.is_user_code()) [[unlikely]]
    return worker::in_section([&] { return suspend(w, commit, argument); });
  worker::worker& me = who.on();
  if (me.ring != nullptr) [[unlikely]]
    worker::tracing::note_wait(me, w);
  thread* self = me.current_thread();
  w.thread = self;
  self->shown.waits_for = w.what;
  suspension s{&w, commit, argument, self};
  const worker::exception_state handled = me.by->leave_exceptions();
  me.switch_away(*self, commit_suspension, &s, nullptr);
  worker::take_back_exceptions(handled);
  self->shown.waits_for = nullptr;
  return reason_of(w);
}

wake_reason suspend_until(waiter& w, bool (*commit)(void*, waiter&) noexcept, void* argument,
                          std::chrono::steady_clock::time_point deadline) noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_foreign()) {
    const worker::foreign_wait told(w);
    if (commit(argument, w)) sleep_foreign(w, to_platform(deadline));
    return reason_of(w);
  }
  if (who.is_user_code()) [[unlikely]]
    return worker::in_section([&] { return suspend_until(w, commit, argument, deadline); });
  worker::worker& me = who.on();
  struct timed {
    worker::timer timer;
    worker::runtime* home;
    thread* self;
    bool (*commit)(void*, waiter&) noexcept;
    void* argument;
  } limit{{to_platform(deadline), &w}, &me.home, me.current_thread(), commit, argument};
  // Between the inner commit and the timer's arming a waker may already resume the waiter. The waker then leaves the
  // resuming to us.
  w.asleep.store(phase_committing);
  const wake_reason reason = suspend(
      w,
      [](void* data, waiter& inner) noexcept {
        auto& t = *static_cast<timed*>(data);
        if (!t.commit(t.argument, inner)) return false;
        worker::runtime& home = *t.home;
        thread& self = *t.self;
        const bool earliest = home.time().timers().add(t.timer);
        if (inner.asleep.exchange(phase_committed) == phase_resumed) {
          worker::make_ready_anywhere(self);
        } else if (earliest) {
          home.time().timer_added();
        }
        return true;
      },
      &limit);
  limit.home->time().timers().remove(limit.timer);
  return reason;
}

void resume(waiter& w) noexcept {
  if (w.thread == nullptr) {
    w.asleep.store(1, std::memory_order_release);  // pairs with sleep_foreign: what the waker did before
    platform::wake_one(w.asleep);                  // the waiter may be gone: only its address is used
    return;
  }
  const worker::section inside;
  auto* t = static_cast<thread*>(w.thread);
  // suspend_until's commit resumes it.
  if (w.asleep.load() != 0 && w.asleep.exchange(phase_resumed) == phase_committing) return;
  worker::worker* me = worker::worker::current_or_null();
  if (me != nullptr) trace::emit<trace::event::thread_wake>(me->ring, t->id);
  worker::make_ready_anywhere(*t);
}

}  // namespace heddle::detail

namespace heddle::worker {

thread* worker_agenda::take_resumed(detail::waiter& w) noexcept {
  auto* const t = static_cast<thread*>(w.thread);
  if (t == nullptr || t->home != &home || t->scheduling.tag != nullptr || t->ties.belongs.is_known()) {
    detail::resume(w);
    return nullptr;
  }
  if (w.asleep.load() != 0 && w.asleep.exchange(detail::phase_resumed) == detail::phase_committing) return nullptr;
  trace::emit<trace::event::thread_wake>(ring, t->id);
  return t;
}

}  // namespace heddle::worker

namespace heddle::detail {

// Goes to `next`, or to the run loop if the caller has to go there, and goes on from the exceptions that are being
// handled.
[[gnu::noinline]] static void yield_to(thread* next) noexcept {
  worker::worker& me = worker::worker::current();
  thread* self = me.current_thread();
  // On a simulated platform this charge lets others run.
  if (next == nullptr && !me.must_pass() && !me.must_look()) return platform::charge(platform::operation::look);
  const worker::exception_state handled = me.by->leave_exceptions();
  constexpr auto after = [](void* t, void*) { worker::worker::current().requeue(*static_cast<thread*>(t)); };
  if (next != nullptr) me.switch_to(*self, *next, after, self, nullptr);
  else me.switch_to_run_loop(*self, after, self, nullptr);
  worker::take_back_exceptions(handled);
}

// For preemption, priorities, packing, and a policy that wants to be asked.
[[gnu::noinline]] static void yield_specially() noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_user_code()) return worker::in_section(yield_specially);
  worker::worker& me = who.on();
  if (me.is_reminded() && me.serve()) return;
  yield_to(me.thread_for(me.pick(me.current_thread())));
}

void yield() noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_foreign()) return platform::yield_processor();
  // A change is seen at the next look. The queue of a preemptive thread has the flag set, too.
  if (who.queue().picks_specially.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return yield_specially();
  worker::worker& me = who.on();
  thread* next = me.thread_for(me.pick_for_yield());
  if (next == nullptr || me.by->exceptions->any()) [[unlikely]]
    return yield_to(next);
  // A thread that was not packed when it yielded may go to its worker's ready threads: packing looks there.
  constexpr auto after = [](void* t, void*) { worker::worker::current().make_ready_here(*static_cast<thread*>(t)); };
  thread* self = me.current_thread();
  me.switch_to(*self, *next, after, self, nullptr);
}

bool go_elsewhere() noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_foreign()) return false;
  if (who.is_user_code()) return worker::in_section(go_elsewhere);
  worker::worker& me = who.on();
  thread* self = me.current_thread();
  if (self->ties.belongs.is_known() || self->level.load() != 0 || self->scheduling.tag != nullptr ||
      me.caller_run.own_carrier != nullptr || me.stands_in != nullptr || me.home.capacity().pools().in_force() ||
      !me.home.sleepers().idle().anyone_asleep())
    return false;
  const worker::exception_state handled = me.by->leave_exceptions();
  constexpr auto after = [](void* t, void*) {
    worker::worker& left = worker::worker::current();
    left.home.incoming().push(*static_cast<thread*>(t));
    left.home.sleepers().leave_to_another(left.rank);
  };
  me.switch_to_run_loop(*self, after, self, nullptr);
  worker::take_back_exceptions(handled);
  return true;
}

}  // namespace heddle::detail
