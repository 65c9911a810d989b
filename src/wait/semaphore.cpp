// Waiting for and handing out permits. Protocol and proof: objects.md.
#include <heddle/semaphore.hpp>

#include "worker/preemption/section.hpp"

namespace heddle::detail {

struct semaphore_core::request {
  semaphore_core* object;
};

bool semaphore_core::enqueue(void* data, waiter& w) noexcept {
  semaphore_core& s = *static_cast<request*>(data)->object;
  s.guard_.lock();
  std::int64_t word = s.word_.load();
  for (;;) {
    const bool permitted = word >= permit;
    if (!s.word_.compare_exchange_weak(word, permitted ? word - permit : word | has_waiters)) continue;
    if (!permitted) s.waiters_.push_back(w);
    s.guard_.unlock();
    return !permitted;
  }
}

bool semaphore_core::acquire_slow(const deadline* limit) noexcept {
  const worker::section inside;
  request r{this};
  waiter w("semaphore");
  const wake_reason reason = limit == nullptr ? suspend(w, enqueue, &r) : suspend_until(w, enqueue, &r, *limit);
  // It was handed a permit, or took one at the last look.
  if (reason != wake_reason::timed_out) return true;
  guard_.lock();
  waiters_.remove(w);
  if (waiters_.empty()) word_.fetch_and(~has_waiters);
  guard_.unlock();
  return false;
}

void semaphore_core::release_slow(std::ptrdiff_t count) noexcept {
  const worker::section inside;
  waiter_list chosen;
  std::int64_t word = word_.load();
  while (count != 0) {
    if ((word & has_waiters) == 0) {
      if (word_.compare_exchange_weak(word, word + count * permit)) break;  // perhaps the last access to *this
      continue;
    }
    guard_.lock();
    while (count != 0) {
      waiter* w = waiters_.pop_front();
      if (w == nullptr) break;
      if (!claim(*w, wake_reason::notified)) continue;
      chosen.push_back(*w);
      --count;
    }
    if (waiters_.empty()) word_.fetch_and(~has_waiters);
    // This is perhaps the last access to *this: the chosen waiters may run only after it.
    guard_.unlock();
    if (count != 0) word = word_.load();
  }
  while (waiter* w = chosen.pop_front()) resume(*w);
}

}  // namespace heddle::detail
