#include "policy/levels/stage.hpp"

#include <utility>

namespace heddle::policy {

stage::stage(scheduler& real, unsigned level, std::unique_ptr<policy> inner, unsigned first, unsigned count,
             machine_part part)
    : real_(real),
      level_(level),
      inner_(std::move(inner)),
      first_(first),
      count_(count),
      members_(count),
      host_(*this, real, std::move(part)) {}

stage::stage(scheduler& real, unsigned level, std::unique_ptr<policy> inner, const std::vector<unsigned>& first_ranks,
             unsigned end, std::vector<double> capacities, machine_part part)
    : real_(real),
      level_(level),
      inner_(std::move(inner)),
      first_(first_ranks.front()),
      count_(end - first_ranks.front()),
      members_(static_cast<unsigned>(first_ranks.size())),
      first_ranks_(first_ranks),
      capacities_(std::move(capacities)),
      queues_(new member_queue[first_ranks.size()]),
      host_(*this, real, std::move(part)) {
  for (unsigned m = 0; m < members_; ++m) member_of_.insert(member_of_.end(), end_of(m) - first_of(m), m);
}

void stage::begin() {
  inner_->start(host_);
  wants_ = inner_->wants();
}

bool stage::wake_member(unsigned member) noexcept {
  for (unsigned rank = first_of(member); rank < end_of(member); ++rank) {
    if (real_.wake(rank)) return true;
  }
  return false;
}

void stage::wake_any(unsigned near) noexcept {
  // A group has many sleepers. Each call goes on to the next group, so that tasks queued one after the other wake all
  // groups. relaxed: any start will do.
  const unsigned from = is_innermost() ? near : near + woken_.fetch_add(1, std::memory_order_relaxed);
  for (unsigned i = 0; i < members_; ++i) {
    const unsigned member = (from + i) % members_;
    // A group that has something else of this level could not take the task. It looks, and wakes others, when that ends
    // (leave_queue).
    if (!is_innermost() && queues_[member].busy.load() != 0) continue;
    if (wake_member(member)) return;
  }
}

entry stage::entry_of(task& t) noexcept {
  level_task& it = level_task_of(t);
  return is_innermost() ? real_.entry_of(*it.real) : reinterpret_cast<entry>(&it);
}

}  // namespace heddle::policy
