// blocking(): the worker leaves its carrier and its thread to a blocking call. Protocol: blocking.md.
#include <heddle/blocking.hpp>

#include <cstdio>

#include "platform/platform.hpp"
#include "worker/carriers/handover.hpp"
#include "worker/carriers/thread_slots.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

constexpr int attempts = 10000;

// Where threads are preempted, a worker makes no kernel thread itself. Making one allocates memory, and a thread that
// was preempted inside malloc may wait for this very worker. So another kernel thread makes it, and other threads run
// meanwhile.
[[gnu::noinline]] blocking_state begin_blocking_patiently() noexcept {
  for (int i = 0; i < attempts; ++i) {
    const worker::caller who = worker::caller::now();
    fiber::preemptible* const caller = who.is_user_code() ? &who.preemptive() : nullptr;
    if (caller != nullptr) worker::enter_runtime(*caller);
    worker::worker& w = worker::worker::current();
    const blocking_state state{w.current_thread(), w.by};
    if (worker::hand_over_worker(w, true)) {
      // Preemption stays off until end_blocking, because this kernel thread has no worker that could go on with another
      // thread.
      if (caller != nullptr) worker::begin_blocking_on_block(*caller);
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
  worker::runtime* const home = worker::caller::now().home();
  if (home == nullptr) return {};
  home->blocking_calls().admit();
  blocking_state state;
  if (home->creator().is_there()) {
    state = begin_blocking_patiently();
  } else {
    worker::worker& w = worker::worker::current();
    state = {w.current_thread(), w.by};
    if (!worker::hand_over_worker(w, false)) state = {};  // otherwise this kernel thread is on no worker from here on
  }
  if (state.thread == nullptr) {
    home->blocking_calls().end();  // f runs in place and needs no kernel thread of its own
  } else {
    worker::show_slots(*static_cast<worker::thread*>(state.thread), *static_cast<worker::carrier*>(state.carrier));
  }
  return state;
}

void end_blocking(const blocking_state& state) noexcept {
  auto& self = *static_cast<worker::thread*>(state.thread);
  auto& on = *static_cast<worker::carrier*>(state.carrier);
  worker::hide_slots(on);
  self.home->blocking_calls().end();
  if (self.preemptive != nullptr) [[unlikely]]
    worker::end_blocking_on_block(*self.preemptive, on);
  worker::return_from_blocking(self, on);
  if (self.preemptive != nullptr) [[unlikely]]
    worker::leave_runtime(*self.preemptive);
}

}  // namespace heddle::detail

namespace heddle::worker {

void blocking_calls::admit() noexcept {
  if (free_.try_acquire()) return;
  if (!told_of_limit_.exchange(true)) {
    char text[240];
    const int length = std::snprintf(
        text, sizeof text,
        "heddle: %u calls of heddle::blocking are under way, each with a kernel thread of its own; further ones wait "
        "(HEDDLE_BLOCKING_LIMIT; for sockets wait_readable needs no kernel thread)\n",
        limit_);
    platform::write_error(text, static_cast<std::size_t>(length));
  }
  free_.acquire();
}

}  // namespace heddle::worker
