#include "worker/arenas/arena.hpp"

#include <mutex>

#include "base/contracts.hpp"
#include "platform/platform.hpp"
#include "worker/arenas/waiting_drivers.hpp"
#include "worker/carriers/carrier.hpp"
#include "worker/current.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

arena::~arena() = default;

void arena::begin() {
  for (unsigned rank = 0; rank < inner_.workers(); ++rank)
    drivers_.push_back(std::make_unique<driver>(*this, inner_.at(rank)));
  plan_.outer->arena_begins();
  for (unsigned rank = 0; rank < inner_.workers(); ++rank) inner_.at(rank).rest_first(*drivers_[rank]);
}

// A worker that is seen at rest may be woken by one that is about to rest: then the count has changed at the end.
void arena::await_rest() noexcept {
  for (;;) {
    const std::uint64_t before = wanted_.load();
    bool all = true;
    for (unsigned rank = 0; all && rank < inner_.workers(); ++rank) {
      // acquire pairs with rest: what the worker did last
      all = inner_.at(rank).token.now() == token::state::asleep;
    }
    if (all && wanted_.load() == before) break;
    detail::yield();
    platform::yield_processor();
  }
  plan_.outer->arena_ends();
}

void arena::want(driver& of) noexcept {
  wanted_.fetch_add(1);
  plan_.outer->carry(of);
}

bool arena::must_leave(const driver& of) const noexcept {
  const worker& below = *of.beneath;
  return below.has_other_work() || (below.drives != nullptr && below.drives->of.must_leave(*below.drives));
}

// [arena:2]. On the stack of a thread of the outer runtime, which never leaves its worker meanwhile.
void driver::drive(detail::job* self) noexcept {
  auto& d = static_cast<driver&>(*self);
  const section inside;
  worker& below = worker::current();
  runtime& outer = below.home;
  worker& w = d.carried;
  carrier mine(w.home);
  mine.exceptions = below.by->exceptions;
  mine.thread_pointer = below.by->thread_pointer;
  fiber::describe_stack_of(*below.current_thread(), mine.native);
  const exception_state handled = mine.leave_exceptions();
  mine.assigned = &w;
  d.beneath = &below;
  w.by = &mine;
  set_current_queue(&w);
  static_cast<void>(worker::run(mine));  // from here on somebody else may carry it, and the arena may be gone
  set_current_queue(&below);
  mine.exceptions->take_back(handled);
  outer.time().delegate();  // [time:2]: its timers are the outer runtime's
}

// --- jobs ----------------------------------------------------------------------------------------------------------

void arena::job_ends() noexcept {
  if (jobs_.fetch_sub(1) != 1) return;
  for (;;) {
    detail::waiter* w = nullptr;
    {
      std::lock_guard hold(lock_);
      w = waiters_.pop_front();
    }
    if (w == nullptr) return;
    detail::wake(*w);
  }
}

// Whoever ends the last job wakes all that wait, also one that has come for further jobs meanwhile: it looks again.
void arena::wait_for_jobs() noexcept {
  while (jobs_.load() != 0) {
    detail::waiter w("jobs of an arena");
    detail::suspend(
        w,
        [](void* of, detail::waiter& me) noexcept {
          auto& all = *static_cast<arena*>(of);
          std::lock_guard hold(all.lock_);
          if (all.jobs_.load() == 0) return false;  // the last one takes the lock after this
          all.waiters_.push_back(me);
          return true;
        },
        this);
  }
}

}  // namespace heddle::worker
