#include "worker/packing.hpp"

#include <algorithm>
#include <mutex>

#include "worker/runtime.hpp"
#include "worker/section.hpp"
#include "worker/worker.hpp"

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

thread* packing::pop(unsigned index, packing_turns& turns) noexcept {
  thread* t = pop(index);
  if (t != nullptr) serves(turns, static_cast<int>(index));
  return t;
}

void packing::serves(packing_turns& turns, int index) noexcept {
  if (index == turns.serves) return;
  // relaxed: hints
  if (turns.serves >= 0) pools_[turns.serves].load.fetch_sub(1, std::memory_order_relaxed);
  if (index >= 0) pools_[index].load.fetch_add(1, std::memory_order_relaxed);
  turns.serves = index;
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

thread* packing::take(unsigned rank, packing_turns& turns) noexcept {
  // a number: a worker that does not know of a change yet serves as before
  const unsigned active = active_.load(std::memory_order_relaxed);
  if (active == 0 || rank >= active || !any()) return nullptr;
  const unsigned each = total_ / active;           // private pools a worker: rank, rank + active, ...
  const unsigned shared = total_ - active * each;  // the last ones
  turns.to_shared = !turns.to_shared;
  for (int kind = 0; kind < 2; ++kind) {
    if (turns.to_shared) {
      for (unsigned i = 0; i < shared; ++i) {
        if (thread* t = pop(active * each + turns.shared++ % shared, turns); t != nullptr) return t;
      }
    } else {
      for (unsigned i = 0; i < each; ++i) {
        if (thread* t = pop(rank + active * (turns.own++ % each), turns); t != nullptr) return t;
      }
    }
    if (kind == 0) turns.to_shared = !turns.to_shared;
  }
  return nullptr;
}

thread* packing::take_any(unsigned rank, packing_turns& turns) noexcept {
  for (unsigned i = 0; i < total_ && any(); ++i) {
    if (thread* t = pop((rank + i) % total_, turns); t != nullptr) return t;
  }
  rests(turns);
  return nullptr;
}

// --- switching workers off and on -----------------------------------------------------------------------------------

void runtime::set_active(unsigned count) noexcept {
  const section inside;
  std::lock_guard hold(active_mutex_);
  asked_active_ = count;
  apply_active(std::min(asked_active_, allowed_active_));
}

// With as many workers as the process had processors, or fewer: as many as
// it has now. With more, which then take turns, the same share of them.
void runtime::follow_limits() noexcept {
  if (!can_pack()) return;
  const unsigned now = std::max(settings_.allowed(), 1u);
  unsigned count = std::min(workers(), now);
  if (workers() > allowed_at_start_)
    count = std::clamp(static_cast<unsigned>(std::uint64_t{workers()} * now / allowed_at_start_), 1u, workers());
  std::lock_guard hold(active_mutex_);
  if (count == allowed_active_) return;
  allowed_active_ = count;
  apply_active(std::min(asked_active_, allowed_active_));
}

// Under active_mutex_.
void runtime::apply_active(unsigned count) noexcept {
  const bool packed = count < workers();
  if (!packed && !packing_.in_force()) return;
  active_.store(count, std::memory_order_relaxed);  // a number
  if (packed) packing_.begin(count);
  for (unsigned rank = 0; rank < workers(); ++rank) {
    worker& w = *workers_[rank];
    w.picks_specially.store(packed || wants_.picks || has_priorities_.load());
    w.queues_specially.store(packed || has_priorities_.load());
    const bool off = rank >= count;
    if ((w.aside.load() != 0) == off) continue;
    w.aside.store(off ? 1 : 0);
    // it may be asleep, in which case it would be woken for work and have to pass that on
    if (off) sleepers_.send_token(rank);
    else platform::wake_all(w.aside);
  }
  if (!packed) packing_.end([this](thread& t) { inbox_.push(t); });
  sleepers_.wake_one_for(0);
}

}  // namespace heddle::worker
