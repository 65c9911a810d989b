// The result of a promise: waiting for it, publishing it, and its continuations. Protocol: objects.md.
#include <heddle/detail/shared_state.hpp>

#include <future>

#include "worker/preemption/section.hpp"

namespace heddle::detail {

bool state_core::enqueue(void* state, waiter& w) noexcept {
  auto& s = *static_cast<state_core*>(state);
  s.guard_.lock();
  const bool pending = !s.ready_.load();
  if (pending) s.waiters_.push_back(w);
  s.guard_.unlock();
  return pending;
}

bool state_core::wait_slow(const deadline* limit) noexcept {
  const worker::section inside;
  waiter w("future");
  const wake_reason reason = limit == nullptr ? suspend(w, enqueue, this) : suspend_until(w, enqueue, this, *limit);
  if (reason != wake_reason::timed_out) return true;
  guard_.lock();
  waiters_.remove(w);
  guard_.unlock();
  return false;
}

void state_core::subscribe(continuation& c) noexcept {
  bool pending;
  {
    const worker::section inside;
    guard_.lock();
    pending = !ready_.load();
    if (pending) {
      *last_ = &c;
      last_ = &c.next;
    }
    guard_.unlock();
  }
  if (!pending) c.run(c);
}

void state_core::publish() noexcept {
  keep();  // a waiter may drop the last other count while we are still here
  continuation* c;
  {
    const worker::section inside;
    waiter_list chosen;
    guard_.lock();
    ready_.store(true);
    while (waiter* w = waiters_.pop_front()) {
      if (claim(*w, wake_reason::notified)) chosen.push_back(*w);
    }
    c = std::exchange(first_, nullptr);
    guard_.unlock();
    while (waiter* w = chosen.pop_front()) resume(*w);
  }
  while (c != nullptr) {
    continuation* next = c->next;
    c->run(*c);
    c = next;
  }
  drop();
}

void state_core::begin_result_or_throw() {
  if (!begin_result()) throw std::future_error(std::future_errc::promise_already_satisfied);
}

void throw_no_state() { throw std::future_error(std::future_errc::no_state); }

void throw_future_already_retrieved() { throw std::future_error(std::future_errc::future_already_retrieved); }

std::exception_ptr broken_promise() noexcept {
  return std::make_exception_ptr(std::future_error(std::future_errc::broken_promise));
}

}  // namespace heddle::detail
