// Work sharing: every new task goes to one central queue under a lock, and every worker takes from it. This is the
// baseline for comparisons with work stealing, and the way in which GNU's runtime runs OpenMP tasks.
//
// Source: as described by Chen and Guo, *Task Scheduling for Multi-core and Parallel Architectures* (2017), section
// 2.2.
//
// Deviations: the book leaves the order open. Ours is the newest first (order=lifo), which keeps the number of live
// tasks small, or the oldest first (order=fifo). Threads that were woken stay with the worker that woke them; a thief
// that insists takes those of a worker in a long leaf.
#include "policy/stealing/work_sharing.hpp"

namespace heddle::policy {

entry work_sharing::take() noexcept {
  task* t = oldest_first_ ? pool_.pop_back() : pool_.pop_front();
  return t == nullptr ? 0 : host_->entry_of(*t);
}

void work_sharing::enqueue(unsigned self, task& t) noexcept {
  pool_.push_front(t);
  host_->wake_any(self);
}

entry work_sharing::acquire(unsigned self, effort how) noexcept {
  if (const entry found = take(); found != 0) return found;
  if (how == effort::glance) return 0;
  for (unsigned victim = 0; victim < host_->workers(); ++victim) {
    if (victim == self || !host_->has_work(victim)) continue;
    if (const entry found = host_->steal(self, victim, how); found != 0) return found;
  }
  return 0;
}

bool work_sharing::may_find(unsigned self) noexcept { return !pool_.looks_empty() || policy::may_find(self); }

std::unique_ptr<policy> work_sharing::make(parameters& given) {
  const bool oldest_first = given.choice("order", "lifo|fifo") == 1;
  return create<work_sharing>(oldest_first);
}

}  // namespace heddle::policy
