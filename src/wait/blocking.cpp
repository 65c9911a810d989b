// blocking(): the worker leaves its carrier and its thread to a blocking call. Protocol: README.md, "Blocking calls".
#include <heddle/blocking.hpp>

#include "platform/platform.hpp"
#include "worker/runtime.hpp"
#include "worker/section.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

constexpr int attempts = 10000;

// Where threads are preempted nobody makes a kernel thread on a worker: that allocates, and a thread which was preempted inside malloc may wait
// for this very worker. So somebody else makes it, and others run meanwhile.
[[gnu::noinline]] blocking_state begin_blocking_patiently() noexcept {
  for (int i = 0; i < attempts; ++i) {
    fork_queue* const queue = current_queue();
    fiber::preemptible* const caller = worker::is_user_code(queue) ? static_cast<fiber::preemptible*>(queue) : nullptr;
    if (caller != nullptr) worker::enter_runtime(*caller);
    worker::worker* w = worker::worker::current();
    const blocking_state state{w->current_thread(), w->by};
    if (w->home.lend_worker(*w, true)) {
      if (caller != nullptr) worker::begin_blocking_on_block(*caller);  // preemption stays off: there is no worker that could go on
      return state;
    }
    if (caller != nullptr) worker::leave_runtime(*caller);
    yield();
    platform::yield_processor();
  }
  return {};
}

}  // namespace

blocking_state begin_blocking() noexcept {
  worker::worker* w = worker::worker::current();
  if (w == nullptr) return {};
  if (worker::is_user_code(w) || w->home.has_creator()) return begin_blocking_patiently();
  blocking_state state{w->current_thread(), w->by};
  if (!w->home.lend_worker(*w, false)) return {};
  return state;  // on no worker from here on
}

void end_blocking(const blocking_state& state) noexcept {
  auto& self = *static_cast<worker::thread*>(state.thread);
  auto& on = *static_cast<worker::carrier*>(state.carrier);
  if (self.preemptive != nullptr) [[unlikely]] worker::end_blocking_on_block(*self.preemptive, on);
  self.home->return_from_blocking(self, on);
  if (self.preemptive != nullptr) [[unlikely]] worker::leave_runtime(*self.preemptive);
}

}  // namespace heddle::detail
