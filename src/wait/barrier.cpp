// Waiting for a phase to end and ending it. Protocol and proof: objects.md.
#include <heddle/barrier.hpp>

#include "worker/preemption/section.hpp"

namespace heddle::detail {

namespace {

struct barrier_request {
  barrier_core* object;
  barrier_core::phase awaited;
};

}  // namespace

bool barrier_core::enqueue(void* data, waiter& w) noexcept {
  const barrier_request r = *static_cast<barrier_request*>(data);
  barrier_core& b = *r.object;
  b.guard_.lock();
  const bool over = b.is_over(r.awaited);
  if (!over) b.waiters_.push_back(w);
  b.guard_.unlock();
  return !over;
}

void barrier_core::wait_slow(phase p) noexcept {
  barrier_request r{this, p};
  waiter w("barrier");
  suspend(w, enqueue, &r);
}

void barrier_core::next_phase() noexcept {
  const worker::section inside;
  guard_.lock();
  const std::uint64_t phase = word_.load() >> 32;
  word_.store((phase + 1) << 32 | expected_.load());
  waiter_list all = std::exchange(waiters_, waiter_list());
  guard_.unlock();
  while (waiter* w = all.pop_front()) wake(*w);
}

}  // namespace heddle::detail
