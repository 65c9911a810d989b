#include "worker/order/packing.hpp"

#include <algorithm>
#include <mutex>

namespace heddle::worker {

using fiber::thread;

thread* packing::pop(unsigned index) noexcept {
  pool& p = pools_[index];
  if (p.since.load(std::memory_order_relaxed) == none) return nullptr;  // a hint
  std::lock_guard hold(p.lock);
  thread* t = p.first;
  if (t == nullptr) return nullptr;
  be_first(p, t->next);
  p.load.fetch_sub(1, std::memory_order_relaxed);  // a hint
  ready_.fetch_sub(1);
  return t;
}

thread* packing::pop(unsigned index, served_pool& mine) noexcept {
  thread* t = pop(index);
  if (t != nullptr) serves(mine, static_cast<int>(index));
  return t;
}

void packing::serves(served_pool& mine, int index) noexcept {
  if (index == mine.index) return;
  // relaxed: hints
  if (mine.index >= 0) pools_[mine.index].load.fetch_sub(1, std::memory_order_relaxed);
  if (index >= 0) pools_[index].load.fetch_add(1, std::memory_order_relaxed);
  mine.index = index;
}

unsigned packing::emptiest(unsigned from) const noexcept {
  unsigned best = from;
  int least = pools_[best].load.load(std::memory_order_relaxed);  // a hint
  for (unsigned i = 1, index = best; i < total_ && least > 0; ++i) {
    index = index + 1 == total_ ? 0 : index + 1;
    const int load = pools_[index].load.load(std::memory_order_relaxed);  // a hint
    if (load < least) {
      least = load;
      best = index;
    }
  }
  return best;
}

thread* packing::take(unsigned rank, served_pool& mine) noexcept {
  // a number: a worker that does not know of a change yet serves as before
  const unsigned active = active_.load(std::memory_order_relaxed);
  if (active == 0 || rank >= active || !any()) return nullptr;
  const unsigned each = total_ / active;  // private pools of a worker: rank, rank + active, ...
  for (;;) {
    unsigned best = total_;
    std::uint64_t since = none;
    const auto look = [&](unsigned index) {
      const std::uint64_t its = pools_[index].since.load(std::memory_order_relaxed);  // a hint
      if (its >= since) return;
      since = its;
      best = index;
    };
    for (unsigned i = 0; i < each; ++i) look(rank + active * i);
    for (unsigned index = active * each; index < total_; ++index) look(index);  // shared
    if (best == total_) return nullptr;
    // another worker may have taken the thread meanwhile
    if (thread* t = pop(best, mine); t != nullptr) return t;
  }
}

thread* packing::take_any(unsigned rank, served_pool& mine) noexcept {
  for (unsigned i = 0; i < total_ && any(); ++i) {
    if (thread* t = pop((rank + i) % total_, mine); t != nullptr) return t;
  }
  rests(mine);
  return nullptr;
}

}  // namespace heddle::worker
