#include "worker/arenas/waiting_drivers.hpp"

#include <mutex>

#include "worker/searching/sleepers.hpp"

namespace heddle::worker {

void waiting_drivers::count(const driver& d, unsigned by) noexcept {
  const std::vector<bool>* const allowed = d.of.plan().allowed.get();
  if (allowed == nullptr) {
    for_all_.fetch_add(by);
    return;
  }
  for (unsigned rank = 0; rank < workers_; ++rank) {
    if ((*allowed)[rank]) for_worker_[rank].fetch_add(by);
  }
  limited_.fetch_add(by);
}

void waiting_drivers::push(driver& d) noexcept {
  std::lock_guard hold(lock_);
  driver** place = &first_;
  while (*place != nullptr && (*place)->of.plan().level >= d.of.plan().level) place = &(*place)->next;
  d.next = *place;
  *place = &d;
  count(d, 1);
}

driver* waiting_drivers::take(unsigned rank) noexcept {
  if (!any_for(rank)) return nullptr;
  std::lock_guard hold(lock_);
  for (driver** place = &first_; *place != nullptr; place = &(*place)->next) {
    driver& d = **place;
    const std::vector<bool>* const allowed = d.of.plan().allowed.get();
    if (allowed != nullptr && !(*allowed)[rank]) continue;
    *place = d.next;
    count(d, ~0u);
    return &d;
  }
  return nullptr;
}

void waiting_drivers::wake_for_limited(sleepers& all) noexcept {
  if (!any_limited()) return;
  std::lock_guard hold(lock_);
  for (const driver* d = first_; d != nullptr; d = d->next) {
    if (const std::vector<bool>* const allowed = d->of.plan().allowed.get(); allowed != nullptr)
      all.wake_one_of(*allowed);
  }
}

}  // namespace heddle::worker
