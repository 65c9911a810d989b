// Waiting for a phase to end, ending it, and cancelling the barrier. Protocol and proof: objects.md.
#include <heddle/cancellable_barrier.hpp>

#include <utility>

#include "worker/preemption/section.hpp"

namespace heddle {

struct cancellable_barrier::request {
  cancellable_barrier* object;
  std::uint64_t phase;
};

bool cancellable_barrier::enqueue(void* data, detail::waiter& w) noexcept {
  const request r = *static_cast<request*>(data);
  cancellable_barrier& b = *r.object;
  b.guard_.lock();
  const std::uint64_t now = b.word_.load();
  const bool waits = phase_of(now) == r.phase && (now & cancelled) == 0;
  if (waits) b.waiters_.push_back(w);
  b.guard_.unlock();
  return waits;
}

bool cancellable_barrier::wait(std::uint64_t phase) noexcept {
  const worker::section inside;
  request r{this, phase};
  detail::waiter w("cancellable barrier");
  detail::suspend(w, enqueue, &r);
  // A phase that is over was not cancelled, even if the next one was.
  return phase_of(word_.load()) != phase;
}

// Called by the last arrival. One compare-and-swap decides between it and a cancellation.
bool cancellable_barrier::next_phase(std::uint64_t seen) noexcept {
  const worker::section inside;
  guard_.lock();
  const bool mine = word_.compare_exchange_strong(seen, phase_of(seen) + one_phase + expected_);
  detail::waiter_list all;
  if (mine) all = std::exchange(waiters_, detail::waiter_list());
  guard_.unlock();
  while (detail::waiter* w = all.pop_front()) detail::wake(*w);
  return mine;
}

void cancellable_barrier::cancel() noexcept {
  const worker::section inside;
  word_.fetch_or(cancelled);
  guard_.lock();
  detail::waiter_list all = std::exchange(waiters_, detail::waiter_list());
  guard_.unlock();
  while (detail::waiter* w = all.pop_front()) detail::wake(*w);
}

}  // namespace heddle
