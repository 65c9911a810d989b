// Carriers, and how a worker changes them in blocking(). Protocol and proof: src/wait/blocking.md.
#include "worker/carrier.hpp"

#include <cxxabi.h>

#include <cerrno>
#include <new>
#include <utility>

#include "arch/arch.hpp"
#include "base/audit.hpp"
#include "base/contracts.hpp"
#include "worker/current.hpp"
#include "worker/runtime.hpp"
#include "worker/section.hpp"

namespace heddle::worker {

namespace {

constexpr platform::nanoseconds patience = 1'000'000'000;  // of a spare beyond spares_kept, until it ends

}  // namespace

void runtime::carry(void* argument) {
  auto& self = *static_cast<carrier*>(argument);
  const platform::alternate_stack for_faults;
  self.signals.alternate_stack = for_faults.memory();
  self.signals.alternate_bytes = for_faults.bytes();
  // not the blocked signals of whoever made this kernel thread, which may have been in the middle of anything
  self.signals.blocked = self.home.blocked_signals_;
  platform::take_signals(self.signals);
  fiber::describe_native_stack(self.native);
  self.exceptions = reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
  self.thread_pointer = arch::thread_pointer();
  self.id.store(platform::kernel_thread_id(), std::memory_order_relaxed);  // a number
  const struct timer_end {
    platform::tick_timer& timer;
    ~timer_end() { platform::drop(timer); }
  } at_end{self.timer};
  if (self.offers_itself) {
    self.home.offer(self);
    self.home.carrier_made();
  }
  for (;;) {
    std::uint32_t signal;
    // acquire pairs with the assigning kernel thread: `assigned` and the worker
    while ((signal = self.signal.load(std::memory_order_acquire)) == 0) {
      if (!self.passing) {
        platform::wait_on(self.signal, 0);
        continue;
      }
      const platform::nanoseconds limit = platform::now() + patience;
      platform::wait_on(self.signal, 0, limit);
      if (platform::now() >= limit && self.home.dismiss(self)) return;
    }
    if (signal == 2) return;
    self.signal.store(0);
    worker& w = *self.assigned;
    set_current_queue(&w);
    base::forbid_malloc("by a carrier that has a worker");
    bind_to(self, w.processing_unit);
    self.home.ticks().took_over(w);
    trace::emit<trace::event::worker_start>(w.ring, self.kernel.handle);
    const worker::end how = worker::run(self);
    if (how == worker::end::stopped) trace::emit<trace::event::worker_stop>(w.ring);
    set_current_queue(nullptr);
    base::allow_malloc();
    if (how == worker::end::stopped) return;
    if (how == worker::end::pooled) continue;
    // [blocking:6] Not a spare before worker::run has returned: else it could be given a worker there and not notice.
    self.home.offer(self);
  }
}

void runtime::offer(carrier& self) noexcept {
  std::lock_guard hold(carrier_mutex_);
  if (stopping()) return;  // the destructor ends it, and may have freed those that are among the spares
  self.next_spare = spares_;
  spares_ = &self;
  self.passing = ++spare_count_ > spares_kept;
}

void runtime::bind_to(carrier& self, int processing_unit) noexcept {
  if (self.bound_to == processing_unit) return;
  platform::bind_self(processing_unit);
  self.bound_to = processing_unit;
}

carrier* runtime::make_carrier(int processing_unit, bool offers_itself) noexcept {
  auto* c = new (std::nothrow) carrier(*this);
  if (c == nullptr) {
    start_error_.store(ENOMEM);
    return nullptr;
  }
  c->offers_itself = offers_itself;
  if (const int error = platform::start(c->kernel, carry, c, "heddle", processing_unit); error != 0) {
    start_error_.store(error);
    delete c;
    return nullptr;
  }
  const section inside;  // a runtime may be made by a preemptive thread of another one
  std::lock_guard hold(carrier_mutex_);
  c->next_all = carriers_;
  carriers_ = c;
  return c;
}

// [blocking:7] True: `self` is to end. It was still a spare, there are more of these than are kept, and it is one no
// longer. It cannot join itself: that is done by the next one that ends, or by the destructor, whoever takes it from
// the list of all carriers.
bool runtime::dismiss(carrier& self) noexcept {
  carrier* before = nullptr;
  {
    std::lock_guard hold(carrier_mutex_);
    carrier** place = &spares_;
    while (*place != nullptr && *place != &self) place = &(*place)->next_spare;
    if (*place == nullptr) return false;  // taken: a worker is on the way
    self.passing = spare_count_ > spares_kept;
    if (!self.passing) return false;
    *place = self.next_spare;
    --spare_count_;
    before = std::exchange(dismissed_, &self);
    if (before != nullptr) {
      for (place = &carriers_; *place != nullptr && *place != before; place = &(*place)->next_all) {
      }
      if (*place == nullptr) before = nullptr;  // the destructor has it
      else *place = before->next_all;
    }
  }
  if (before == nullptr) return true;
  platform::join(before->kernel);
  delete before;
  return true;
}

carrier* runtime::take_spare(worker& w) noexcept {
  if (carrier* c = w.take_spare(); c != nullptr) return c;
  {
    std::lock_guard hold(carrier_mutex_);
    if (spares_ != nullptr) {
      carrier* c = spares_;
      spares_ = c->next_spare;
      --spare_count_;
      return c;
    }
  }
  return make_carrier();
}

bool runtime::lend_worker(worker& w, bool made_elsewhere) noexcept {
  carrier* old = w.by;
  if (w.lender != nullptr) {  // the calling kernel thread is a foreign one: the worker goes on with its own carrier
    trace::emit<trace::event::blocking_begin>(w.ring, w.current_thread()->id);
    blocking_calls_.carrier_kept();
    old->assigned = nullptr;
    set_current_queue(nullptr);
    w.running = nullptr;
    wake_lender(w);
    return true;
  }
  carrier* fresh = made_elsewhere ? take_spare_now(w) : take_spare(w);  // [blocking:1]
  if (fresh == nullptr) return false;
  trace::emit<trace::event::blocking_begin>(w.ring, w.current_thread()->id);
  blocking_calls_.carrier_kept();
  const int unit = w.processing_unit;
  // [blocking:2] read by this kernel thread, and by the runtime's destructor once all threads have ended
  old->assigned = nullptr;
  set_current_queue(nullptr);
  ticks::stop(*old);
  w.running = nullptr;
  hand_over(w, *fresh);              // [blocking:3], [blocking:4]
  if (unit >= 0) bind_to(*old, -1);  // the worker needs its processing unit, whatever the call turns out to do
  return true;
}

void runtime::return_from_blocking(thread& self, carrier& c) noexcept {
  blocking_calls_.carrier_left();
  // no worker's ring: c has none
  if (recorder_ != nullptr) trace::emit<trace::event::blocking_end>(recorder_->foreign(), self.id);
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
  if (mine.any()) [[unlikely]]
    *worker::current()->by->exceptions = mine;
}

}  // namespace heddle::worker
