// Waiting on and notifying a condition variable. Protocol and proof: objects.md.
#include <heddle/condition_variable.hpp>

#include <optional>

#include <heddle/blocking.hpp>

#include "worker/preemption/section.hpp"

namespace heddle {

struct condition_variable::request {
  condition_variable* object;
  mutex* held;
  const std::stop_token* stop;
  bool let_go{false};  // the mutex has been or will be unlocked
  detail::waiter w{"condition variable"};
};

bool condition_variable::enqueue(void* data, detail::waiter& w) noexcept {
  auto& r = *static_cast<request*>(data);
  condition_variable& c = *r.object;
  mutex& held = *r.held;
  c.guard_.lock();
  // The stop's callback has run, or will find no waiter.
  if (r.stop != nullptr && r.stop->stop_requested()) {
    c.guard_.unlock();
    return false;
  }
  r.let_go = true;
  c.waiters_.push_back(w);
  c.waiting_.fetch_add(1);
  c.guard_.unlock();
  // From here on the request may be gone, but not the mutex, because the waiter cannot have the mutex before this.
  held.unlock();
  return true;
}

void condition_variable::take_out(detail::waiter& w) noexcept {
  if (w.next == nullptr && w.previous == nullptr && waiters_.front() != &w) return;
  waiters_.remove(w);
  waiting_.fetch_sub(1);
}

bool condition_variable::wait_with(request& r, const detail::deadline* limit) noexcept {
  const worker::section inside;
  const detail::wake_reason reason =
      limit == nullptr ? detail::suspend(r.w, enqueue, &r) : detail::suspend_until(r.w, enqueue, &r, *limit);
  if (reason == detail::wake_reason::timed_out) {
    guard_.lock();
    take_out(r.w);
    guard_.unlock();
  }
  return reason != detail::wake_reason::timed_out;
}

bool condition_variable::wait_slow(mutex& m, const detail::deadline* limit) noexcept {
  request r{this, &m, nullptr};
  if (limit == nullptr) {
    wait_with(r, nullptr);  // does not touch *this once it has been notified
    m.lock();
    return true;
  }
  leaving_.fetch_add(1);
  const bool in_time = wait_with(r, limit);
  leaving_.fetch_sub(1);  // the last access to *this
  m.lock();
  return in_time;
}

bool condition_variable::wait_stoppable(mutex& m, const std::stop_token& stop, const detail::deadline* limit) noexcept {
  request r{this, &m, &stop};
  leaving_.fetch_add(1);
  bool in_time;
  {
    const auto let_go = [this, &r]() noexcept {
      const worker::section inside;
      guard_.lock();
      const bool mine = r.let_go && detail::claim(r.w, detail::wake_reason::cancelled);
      if (mine) take_out(r.w);
      guard_.unlock();
      if (mine) detail::resume(r.w);
    };
    std::optional<std::stop_callback<decltype(let_go)>> on_stop(std::in_place, stop, let_go);
    in_time = wait_with(r, limit);
    // If a callback is under way, this waits for it in the kernel. The callback's thread may be a preempted one that
    // waits for this very worker.
    if (worker::has_preemption() && stop.stop_requested()) blocking([&] { on_stop.reset(); });
  }
  leaving_.fetch_sub(1);  // the last access to *this
  if (r.let_go) m.lock();
  return in_time;
}

void condition_variable::wake_some(std::uint32_t most) noexcept {
  const worker::section inside;
  detail::waiter_list chosen;
  guard_.lock();
  while (most != 0) {
    detail::waiter* w = waiters_.pop_front();
    if (w == nullptr) break;
    waiting_.fetch_sub(1);
    if (!detail::claim(*w, detail::wake_reason::notified)) continue;
    chosen.push_back(*w);
    --most;
  }
  guard_.unlock();
  while (detail::waiter* w = chosen.pop_front()) detail::resume(*w);
}

void condition_variable::await_leaving() const noexcept {
  while (leaving_.load() != 0) detail::yield();
}

}  // namespace heddle
