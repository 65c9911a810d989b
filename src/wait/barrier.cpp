// Waiting for a phase to end and ending it. Protocol and proof: objects.md.
#include <heddle/barrier.hpp>

#include "arch/arch.hpp"
#include "queue/fork_queue.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

// Pauses before a suspension: threads that run on different workers often arrive within a microsecond of each other.
constexpr unsigned most_pauses = 32;

struct barrier_request {
  barrier_core* object;
  barrier_core::phase awaited;
};

// Called before a wait at a barrier of so many threads. Returns true if the phase has ended meanwhile. There are no
// pauses if some of the threads must wait for a worker, because they may wait for the caller's.
bool ends_soon(const barrier_core& b, barrier_core::phase p, std::uint32_t threads) noexcept {
  const worker::caller who = worker::caller::now();
  if (who.is_foreign()) return false;
  if (who.is_user_code()) [[unlikely]]
    return worker::in_section([&] { return ends_soon(b, p, threads); });
  worker::worker& me = who.on();
  if (threads > me.home.workers() || !me.ready.looks_empty() || queue::size(me) != 0 || !me.barrier_spins.are_tried())
    return false;
  bool over = false;
  for (unsigned i = 0; i < most_pauses && !over; ++i) {
    arch::pause();
    over = b.is_over(p);
  }
  me.barrier_spins.learn(over);
  return over;
}

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
  if (ends_soon(*this, p, expected_.load())) return;
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
