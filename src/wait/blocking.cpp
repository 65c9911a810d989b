// blocking(): the worker leaves its carrier and its thread to a blocking call. Protocol: README.md, "Blocking calls".
#include <heddle/blocking.hpp>

#include "platform/platform.hpp"
#include "worker/runtime.hpp"
#include "worker/section.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

constexpr int attempts = 10000;

// A preemptive caller may not make a kernel thread itself: that allocates, and a thread which was preempted inside malloc may wait for
// this very worker. So somebody else makes it, and others run meanwhile.
[[gnu::noinline]] blocking_state begin_blocking_preemptive(fiber::preemptible& caller) noexcept {
  for (int i = 0; i < attempts; ++i) {
    worker::enter_runtime(caller);
    worker::worker* w = worker::worker::current();
    const blocking_state state{w->current_thread(), w->by};
    if (w->home.lend_worker(*w, true)) {  // preemption stays off: there is no worker that could go on
      worker::begin_blocking_on_block(caller);
      return state;
    }
    worker::leave_runtime(caller);
    yield();
    platform::yield_processor();
  }
  return {};
}

}  // namespace

blocking_state begin_blocking() noexcept {
  worker::worker* w = worker::worker::current();
  if (w == nullptr) return {};
  if (worker::is_user_code(w)) return begin_blocking_preemptive(*static_cast<fiber::preemptible*>(static_cast<fork_queue*>(w)));
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
