#include "worker/order/capacity.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "platform/platform.hpp"
#include "worker/preemption/section.hpp"
#include "worker/searching/sources.hpp"

namespace heddle::worker {

void capacity::begin() noexcept {
  active_.store(count());
  asked_active_ = allowed_active_ = count();
}

void capacity::set_active(unsigned count) noexcept {
  const section inside;
  std::lock_guard hold(mutex_);
  asked_active_ = count;
  apply();
}

void capacity::end() noexcept {
  const section inside;
  std::lock_guard hold(mutex_);
  asked_active_ = allowed_active_ = count();
  apply();
}

void capacity::begin_to_follow() { allowed_at_start_ = std::max(allowed_(), 1u); }

// A runtime with as many workers as the process had processors, or fewer, has as many active workers as the process has
// processors at the moment. A runtime with more workers, which then share processors, keeps the same ratio.
void capacity::follow_limits() noexcept {
  if (!can_change()) return;
  const unsigned now = std::max(allowed_(), 1u);
  unsigned allowed = std::min(count(), now);
  if (count() > allowed_at_start_)
    allowed = std::clamp(static_cast<unsigned>(std::uint64_t{count()} * now / allowed_at_start_), 1u, count());
  std::lock_guard hold(mutex_);
  if (allowed == allowed_active_) return;
  allowed_active_ = allowed;
  apply();
}

void capacity::expect_special_threads() noexcept {
  std::lock_guard hold(mutex_);
  for (const auto& w : workers_) {
    w->queues_specially.store(true);
    w->pick_slowly(worker::special_threads, true);
  }
  expects_special_threads_ = true;
}

// Under mutex_.
void capacity::apply() noexcept {
  const unsigned active = std::min(asked_active_, allowed_active_);
  const bool packed = active < count();
  if (!packed && !pools_.in_force()) return;
  const bool changed = active != active_.load(std::memory_order_relaxed);  // written under the mutex alone
  active_.store(active, std::memory_order_relaxed);                        // a number
  if (packed) pools_.begin(active);
  for (unsigned rank = 0; rank < count(); ++rank) {
    worker& w = *workers_[rank];
    w.pick_slowly(worker::special_threads, packed || wants_.picks || expects_special_threads_);
    w.queues_specially.store(packed || expects_special_threads_);
    const bool off = rank >= active;
    if (w.is_inactive() == off) continue;
    w.inactive.fetch_add(1);
    // It may be asleep. It would then be woken for work and have to pass that on.
    if (off) sleepers_.unpark(rank);
    else platform::wake_all(w.inactive);
  }
  if (!packed) pools_.end([this](fiber::thread& t) { inbox_.push(t); });
  sources::inbox_threads::announce(workers_.front()->home, 0);
  if (!changed) return;
  changes_.fetch_add(1);
  if (wants_.changes) platform::wake_all(changes_);
}

}  // namespace heddle::worker
