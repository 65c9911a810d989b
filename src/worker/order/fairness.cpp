// How busy workers share the preemptive threads among them: at a tick, the worker that has fewer takes over from the
// worker that has more: fairness.md, with the bounds that follow.
#include "platform/platform.hpp"
#include "worker/inline.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

// The number of workers that are looked at at a tick. A look costs a cache miss.
constexpr unsigned looked_at = 8;
// If no more threads wait here than this, a difference of one is a good part of the share.
constexpr unsigned short_round = 3;
// The number of intervals without a choice after which the threads that wait at a worker count as stuck.
constexpr unsigned stuck_after = 2;

// [fairness:3]. Returns true if the worker's carrier runs something that ends no time slices: a thread that waits there
// for a time slice gets none.
bool stands_still(worker& w, std::uint64_t interval, std::uint64_t now) noexcept {
  // relaxed: hints, of the worker that looked last
  const std::uint64_t picks = w.picks.load(std::memory_order_relaxed);
  if (picks == w.seen.picks.load(std::memory_order_relaxed))
    return now - w.seen.since.load(std::memory_order_relaxed) > stuck_after * interval;
  w.seen.picks.store(picks, std::memory_order_relaxed);
  w.seen.since.store(now, std::memory_order_relaxed);
  return false;
}

}  // namespace

thread* worker_agenda::take_over_slice() noexcept {
  ++turns_ended_;
  if (home.capacity().pools().in_force()) return nullptr;  // pools even out by themselves
  const unsigned own = ready.turns_waited_for();
  // [fairness:2]. Takes over from a worker that has one more: once a round, so that the threads which share a worker
  // with one more are not always the same. The moment within a long round is left to chance, because otherwise the same
  // thread would go to and fro.
  const bool may_rotate = own <= short_round || turns_ended_ > own + random.below(own);
  const std::uint64_t interval = home.ticks().interval() * platform::cycles_per_microsecond() / 1000;
  const std::uint64_t now = platform::cycles();
  worker* victim = nullptr;
  std::uint64_t oldest = now;
  bool much_more = false;
  for (unsigned i = 1; i < home.workers() && i <= looked_at; ++i) {
    next_looked_at_ = (next_looked_at_ + 1) % home.workers();
    if (next_looked_at_ == rank) next_looked_at_ = (next_looked_at_ + 1) % home.workers();
    worker& other = home.at(next_looked_at_);
    const unsigned there = other.ready.turns_waited_for();
    if (there == 0 || !home.host().may_rob(rank, other.rank)) continue;
    const bool more = there > own + 1 || stands_still(other, interval, now);  // [fairness:1]; else [fairness:2]
    if (!more && (there != own + 1 || !may_rotate || much_more)) continue;
    const std::uint64_t since = other.ready.oldest_waits_since();
    if (more == much_more && since >= oldest) continue;
    much_more = more;
    oldest = since;
    victim = &other;
  }
  if (victim == nullptr) return nullptr;
  thread* t = victim->ready.force_pop();
  if (t == nullptr) return nullptr;
  turns_ended_ = 0;
  const unsigned distance = home.host().distance(rank, victim->rank);
  counts.steals.fetch_add(1, std::memory_order_relaxed);  // a statistic
  platform::charge(platform::operation::steal, platform::simulated ? distance : 0);
  trace::emit<trace::event::steal_success>(ring, victim->rank, distance, ready_entry(*t));
  return t;
}

}  // namespace heddle::worker
