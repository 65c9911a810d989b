// The body of a carrier's kernel thread while it has no worker.
#include "worker/carriers/carrier.hpp"

#include "arch/arch.hpp"
#include "base/audit.hpp"
#include "worker/carriers/handover.hpp"
#include "worker/current.hpp"
#include "worker/runtime.hpp"

namespace heddle::worker {

namespace {

// How long a spare beyond spares_kept is idle before it ends.
constexpr platform::nanoseconds idle_limit = 1'000'000'000;

}  // namespace

void carry(void* argument) {
  auto& self = *static_cast<carrier*>(argument);
  const platform::alternate_stack for_faults;
  self.signals.alternate_stack = for_faults.memory();
  self.signals.alternate_bytes = for_faults.bytes();
  // These are not the blocked signals of the thread that made this kernel thread, which may have been in the middle of
  // anything.
  self.signals.blocked = self.home.carriers().blocked_signals();
  platform::take_signals(self.signals);
  fiber::describe_native_stack(self.native);
  self.exceptions = &exception_state::of_this_kernel_thread();
  self.thread_pointer = arch::thread_pointer();
  self.id.store(platform::kernel_thread_id(), std::memory_order_relaxed);  // a number
  const struct timer_end {
    platform::tick_timer& timer;
    ~timer_end() { platform::drop(timer); }
  } at_end{self.timer};
  const struct counters_end {
    platform::usage_counters& of;
    ~counters_end() { platform::close_counters(of); }
  } counted_until_the_end{self.counters};
  if (const policy::policy_wants& wants = self.home.host().wants(); wants.usage)
    platform::open_counters(self.counters, wants.figures);
  if (self.offers_itself) {
    self.home.carriers().offer(self);
    self.home.creator().carrier_made();
  }
  for (;;) {
    std::uint32_t signal;
    // acquire pairs with the assigning kernel thread: `assigned` and the worker
    while ((signal = self.signal.load(std::memory_order_acquire)) == 0) {
      if (!self.passing) {
        platform::wait_on(self.signal, 0);
        continue;
      }
      const platform::nanoseconds limit = platform::now() + idle_limit;
      platform::wait_on(self.signal, 0, limit);
      if (platform::now() >= limit && self.home.carriers().dismiss(self)) return;
    }
    if (signal == 2) return;
    self.signal.store(0);
    worker& w = *self.assigned;
    set_current_queue(&w);
    base::forbid_malloc("by a carrier that has a worker");
    bind_to(self, w.processing_unit);
    self.home.ticks().took_over(w);
    // relaxed: its own. It is not the handle, which the thread that starts and joins this kernel thread writes
    // meanwhile.
    trace::emit<trace::event::worker_start>(w.ring, self.id.load(std::memory_order_relaxed));
    const worker::end how = worker::run(self);
    if (how == worker::end::stopped) trace::emit<trace::event::worker_stop>(w.ring);
    set_current_queue(nullptr);
    base::allow_malloc();
    if (how == worker::end::stopped) return;
    if (how == worker::end::pooled) continue;
    // [blocking:6] The carrier becomes a spare only when worker::run has returned. Otherwise it could be given a worker
    // there and not notice.
    self.home.carriers().offer(self);
  }
}

}  // namespace heddle::worker
