#include "worker/order/packing.hpp"

#include <algorithm>
#include <mutex>

namespace heddle::worker {

using fiber::thread;

thread* packing::pop(unsigned index) noexcept {
  pool& p = pools_[index];
  if (p.first.load(std::memory_order_relaxed) == nullptr) return nullptr;  // a hint
  std::lock_guard hold(p.lock);
  thread* t = p.first.load(std::memory_order_relaxed);  // under lock
  if (t == nullptr) return nullptr;
  p.first.store(t->next, std::memory_order_relaxed);  // under lock
  p.load.fetch_sub(1, std::memory_order_relaxed);     // a hint
  ready_.fetch_sub(1);
  return t;
}

thread* packing::pop(unsigned index, pool_rotation& rotation) noexcept {
  thread* t = pop(index);
  if (t != nullptr) serves(rotation, static_cast<int>(index));
  return t;
}

void packing::serves(pool_rotation& rotation, int index) noexcept {
  if (index == rotation.serves) return;
  // relaxed: hints
  if (rotation.serves >= 0) pools_[rotation.serves].load.fetch_sub(1, std::memory_order_relaxed);
  if (index >= 0) pools_[index].load.fetch_add(1, std::memory_order_relaxed);
  rotation.serves = index;
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

thread* packing::take(unsigned rank, pool_rotation& rotation) noexcept {
  // a number: a worker that does not know of a change yet serves as before
  const unsigned active = active_.load(std::memory_order_relaxed);
  if (active == 0 || rank >= active || !any()) return nullptr;
  const unsigned each = total_ / active;           // private pools a worker: rank, rank + active, ...
  const unsigned shared = total_ - active * each;  // the last ones
  rotation.to_shared = !rotation.to_shared;
  for (int kind = 0; kind < 2; ++kind) {
    if (rotation.to_shared) {
      for (unsigned i = 0; i < shared; ++i) {
        if (thread* t = pop(active * each + rotation.shared++ % shared, rotation); t != nullptr) return t;
      }
    } else {
      for (unsigned i = 0; i < each; ++i) {
        if (thread* t = pop(rank + active * (rotation.own++ % each), rotation); t != nullptr) return t;
      }
    }
    if (kind == 0) rotation.to_shared = !rotation.to_shared;
  }
  return nullptr;
}

thread* packing::take_any(unsigned rank, pool_rotation& rotation) noexcept {
  for (unsigned i = 0; i < total_ && any(); ++i) {
    if (thread* t = pop((rank + i) % total_, rotation); t != nullptr) return t;
  }
  rests(rotation);
  return nullptr;
}

}  // namespace heddle::worker
