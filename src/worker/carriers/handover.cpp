#include "worker/carriers/handover.hpp"

#include <utility>

#include "arch/arch.hpp"
#include "base/audit.hpp"
#include "worker/current.hpp"
#include "worker/inline.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/time/task_meter.hpp"

namespace heddle::worker {

using fiber::preemptible;

void bind_to(carrier& self, int processing_unit) noexcept {
  if (self.bound_to == processing_unit) return;
  platform::bind_self(processing_unit);
  self.bound_to = processing_unit;
}

void hand_over(worker& w, carrier& to, bool in_handler) noexcept {
  w.by = &to;
  w.ticking.kernel_thread.store(0, std::memory_order_relaxed);  // a hint: until the new carrier itself says where it is
  to.assigned = &w;
  // A number. 0 means that the carrier has not begun; it binds itself when it does.
  const int id = to.id.load(std::memory_order_relaxed);
  // A kernel thread that bound itself would first wait for the processor that it was on, where another worker's carrier
  // computes.
  if (id != 0 && to.bound_to != w.processing_unit && platform::bind(id, w.processing_unit))
    to.bound_to = w.processing_unit;
  to.signal.store(1, std::memory_order_release);  // pairs with carry, switch_carrier: everything of the worker
  if (in_handler && w.home.options().klt.sleep != nullptr) platform::send_tick(id);
  else platform::wake_one(to.signal);
}

namespace {

// [switch_klt:1]. In a signal handler, so without waiting.
carrier* spare_or_request(worker& w) noexcept {
  carrier* c = w.spares.take();
  if (c == nullptr) c = w.home.carriers().try_take();
  if (c == nullptr) w.home.creator().want_carrier();
  return c;
}

}  // namespace

bool switch_carrier(worker& w, thread& self, entry item) noexcept {
  carrier& mine = *w.by;
  const klt_means& means = w.home.options().klt;
  thread* next = w.thread_for(item);
  carrier* to = nullptr;
  if (!w.must_pass() || !means.straight) {
    // before the look into the pools; carrier_made looks here after it has filled one
    w.ticking.lack_carrier.store(true);
    to = spare_or_request(w);
    if (to != nullptr) w.ticking.lack_carrier.store(false);
  }
  const bool to_handler = to == nullptr && w.must_pass();
  // This holds for all means. There may be no spare because the creator waits for a lock that the next thread, which is
  // bound, holds. Then that thread must go on.
  if (to_handler) {
    next = std::exchange(w.passing_to, nullptr);
    to = std::exchange(next->preemptive->bound, nullptr);
  } else if (to == nullptr) {
    if (next != nullptr) w.put_back(*next);
    return false;
  }
  w.count_pick();  // only now: a switch that comes to nothing must never look like progress to the watchdog
  w.running = to_handler ? next : nullptr;
  // The thread for the run loop of carrier `to`. If it is null, the run loop has to pass the worker on, or to pick, or
  // the worker is inactive.
  w.first = to_handler ? nullptr : next;
  trace::emit<trace::event::thread_park>(w.ring, 0u, self.id);
  if (w.meter != nullptr) w.meter->leave(w, self);
  if (to_handler) trace::emit<trace::event::thread_switch_in>(w.ring, next->id);
  preemptible& p = *self.preemptive;
  p.bound = &mine;  // [switch_klt:2]
  mine.assigned = nullptr;
  ticks::stop(mine);
  w.requeue_preempted(self);  // [switch_klt:3]: complete but for the sleep; who takes it finds this carrier's `signal`
  set_current_queue(&p);      // with `off` set: a tick that comes to this kernel thread does not touch the worker
  hand_over(w, *to, to_handler);  // [switch_klt:4]
  // [switch_klt:5]. acquire pairs with hand_over: everything of the worker that has come
  while (mine.signal.load(std::memory_order_acquire) == 0) {
    if (means.sleep != nullptr) means.sleep(mine.signal, 0);
    else platform::wait_on(mine.signal, 0);
  }
  mine.signal.store(0);
  worker& now = *mine.assigned;
  set_current_queue(&now);
  p.pending.store(false, std::memory_order_relaxed);  // drops a tick that came while it slept
  bind_to(mine, now.processing_unit);
  now.home.ticks().took_over(now);
  if (now.meter != nullptr) now.meter->enter(now, self);
  return true;
}

worker::end worker::pass_on(carrier& mine) noexcept {
  thread& t = *std::exchange(passing_to, nullptr);
  carrier& sleeper = *std::exchange(t.preemptive->bound, nullptr);
  trace::emit<trace::event::thread_switch_in>(ring, t.id);
  running = &t;
  mine.assigned = nullptr;
  ticks::stop(mine);
  set_current_queue(nullptr);
  const bool pooled = home.options().klt.keeps_pools && spares.has_room();
  // [switch_klt:6]: before the worker goes, because it may come back to this carrier before this function has returned.
  if (pooled) spares.put(mine);
  hand_over(*this, sleeper, true);  // [switch_klt:7]
  return pooled ? end::pooled : end::passed;
}

// --- blocking calls ------------------------------------------------------------------------------------------------

namespace {

carrier* spare_or_new(worker& w) noexcept {
  carrier* c = w.spares.take();
  if (c == nullptr) c = w.home.carriers().take();
  return c != nullptr ? c : w.home.carriers().make();
}

}  // namespace

bool lend_worker(worker& w, bool made_elsewhere) noexcept {
  if (w.drives != nullptr) return false;  // [arena:6]
  carrier* old = w.by;
  // If this is not null, the calling kernel thread is a foreign one: the worker goes on with its own carrier.
  if (w.loan.lender != nullptr) {
    trace::emit<trace::event::blocking_begin>(w.ring, w.current_thread()->id);
    if (w.meter != nullptr) w.meter->leave(w, *w.current_thread());
    w.home.blocking_calls().carrier_kept();
    old->assigned = nullptr;
    set_current_queue(nullptr);
    w.running = nullptr;
    lending::wake_lender(w);
    return true;
  }
  carrier* fresh = made_elsewhere ? spare_or_request(w) : spare_or_new(w);  // [blocking:1]
  if (fresh == nullptr) return false;
  trace::emit<trace::event::blocking_begin>(w.ring, w.current_thread()->id);
  if (w.meter != nullptr) w.meter->leave(w, *w.current_thread());
  w.home.blocking_calls().carrier_kept();
  const int unit = w.processing_unit;
  // [blocking:2] read by this kernel thread, and by the runtime's destructor once all threads have ended
  old->assigned = nullptr;
  set_current_queue(nullptr);
  ticks::stop(*old);
  w.running = nullptr;
  hand_over(w, *fresh);  // [blocking:3], [blocking:4]
  // The worker needs its processing unit, whatever the call turns out to do.
  if (unit >= 0) bind_to(*old, -1);
  return true;
}

void return_from_blocking(thread& self, carrier& c) noexcept {
  runtime& home = c.home;
  home.blocking_calls().carrier_left();
  // no worker's ring, because c has none
  if (home.recorder() != nullptr) trace::emit<trace::event::blocking_end>(home.recorder()->foreign(), self.id);
  const exception_state mine = c.leave_exceptions();
  fiber::before_switch(&self, nullptr, c.native, false);
  heddle_switch(
      &self.stack_pointer, c.stack_pointer,
      [](void* a, void* b) {
        // [blocking:5] On the carrier's own stack: the thread goes on elsewhere, this kernel thread goes back through
        // worker::run.
        auto& back = *static_cast<carrier*>(b);
        fiber::after_switch(nullptr, back.native);
        back.home.submit(*static_cast<thread*>(a));
      },
      &self, &c);
  if (self.preemptive == nullptr) base::allow_malloc();  // a preemptive one is not in its own code yet
  take_back_exceptions(mine);
}

}  // namespace heddle::worker
