#include "worker/packing.hpp"

namespace heddle::worker {

using fiber::thread;

thread* packing::pop(unsigned index) noexcept {
  pool& p = pools_[index];
  if (p.first.load(std::memory_order_relaxed) == nullptr) return nullptr;  // a hint
  std::lock_guard hold(p.lock);
  thread* t = p.first.load(std::memory_order_relaxed);  // under lock
  if (t == nullptr) return nullptr;
  p.first.store(t->next, std::memory_order_relaxed);    // under lock
  ready_.fetch_sub(1);
  return t;
}

thread* packing::take(unsigned rank, packing_turns& turns) noexcept {
  const unsigned active = active_.load(std::memory_order_relaxed);  // a number: a worker that does not know of a change yet serves as before
  if (active == 0 || rank >= active || !any()) return nullptr;
  const unsigned each = total_ / active;                            // private pools a worker: rank, rank + active, ...
  const unsigned shared = total_ - active * each;                   // the last ones
  turns.to_shared = !turns.to_shared;
  for (int kind = 0; kind < 2; ++kind) {
    if (turns.to_shared) {
      for (unsigned i = 0; i < shared; ++i) {
        if (thread* t = pop(active * each + turns.shared++ % shared); t != nullptr) return t;
      }
    } else {
      for (unsigned i = 0; i < each; ++i) {
        if (thread* t = pop(rank + active * (turns.own++ % each)); t != nullptr) return t;
      }
    }
    if (kind == 0) turns.to_shared = !turns.to_shared;
  }
  return nullptr;
}

thread* packing::take_any(unsigned rank) noexcept {
  if (!any()) return nullptr;
  for (unsigned i = 0; i < total_; ++i) {
    if (thread* t = pop((rank + i) % total_); t != nullptr) return t;
  }
  return nullptr;
}

}  // namespace heddle::worker
