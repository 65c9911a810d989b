// Sleeping at and notifying an event count. Protocol and proof: objects.md.
#include <heddle/event_count.hpp>

#include "worker/preemption/section.hpp"

namespace heddle {

struct event_count::request {
  event_count* object;
  std::uint32_t seen;
};

bool event_count::enqueue(void* data, detail::waiter& w) noexcept {
  const request r = *static_cast<request*>(data);
  event_count& e = *r.object;
  e.guard_.lock();
  const bool sleeps = e.epoch_.load() == r.seen;
  if (sleeps) e.waiters_.push_back(w);
  e.guard_.unlock();
  return sleeps;
}

bool event_count::wait_slow(std::uint32_t seen, const detail::deadline* limit) noexcept {
  const worker::section inside;
  request r{this, seen};
  detail::waiter w("event count");
  const detail::wake_reason reason =
      limit == nullptr ? detail::suspend(w, enqueue, &r) : detail::suspend_until(w, enqueue, &r, *limit);
  if (reason == detail::wake_reason::timed_out) {
    guard_.lock();
    waiters_.remove(w);
    guard_.unlock();
  }
  waiting_.fetch_sub(1);  // the last access to *this
  return reason != detail::wake_reason::timed_out;
}

void event_count::notify_slow(std::uint32_t most) noexcept {
  const worker::section inside;
  detail::waiter_list chosen;
  guard_.lock();
  epoch_.store(epoch_.load() + 1);
  while (most != 0) {
    detail::waiter* const w = waiters_.pop_front();
    if (w == nullptr) break;
    if (!detail::claim(*w, detail::wake_reason::notified)) continue;
    chosen.push_back(*w);
    --most;
  }
  guard_.unlock();
  while (detail::waiter* w = chosen.pop_front()) detail::resume(*w);
}

}  // namespace heddle
