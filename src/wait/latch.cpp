// Waiting for a latch and opening it. Protocol and proof: objects.md.
#include <heddle/latch.hpp>

#include <utility>

#include "base/contracts.hpp"
#include "worker/preemption/section.hpp"

namespace heddle {

bool latch::enqueue(void* object, detail::waiter& w) noexcept {
  auto& l = *static_cast<latch*>(object);
  l.guard_.lock();
  const bool shut = l.word_.fetch_or(has_waiters) >= unit;
  if (shut) l.waiters_.push_back(w);
  l.guard_.unlock();
  return shut;
}

void latch::wait_slow() noexcept {
  detail::waiter w("latch");
  detail::suspend(w, enqueue, this);
}

void latch::end_of_count(std::int64_t left) noexcept {
  HEDDLE_CHECK(left >= 0,
               "heddle::latch: the count fell to %lld, so more was counted down than the latch was made with",
               static_cast<long long>(left / unit));
  open();
}

void latch::open() noexcept {
  const worker::section inside;
  guard_.lock();
  detail::waiter_list all = std::exchange(waiters_, detail::waiter_list());
  // This is the last access to *this. If there were waiters on the list, they return only after it.
  guard_.unlock();
  while (detail::waiter* w = all.pop_front()) detail::wake(*w);
}

}  // namespace heddle
