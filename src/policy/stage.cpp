#include "policy/stage.hpp"

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
      part_(std::move(part)) {}

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
      seats_(new seat[first_ranks.size()]),
      part_(std::move(part)) {
  for (unsigned m = 0; m < members_; ++m) member_of_.insert(member_of_.end(), end_of(m) - first_of(m), m);
}

void stage::begin() {
  inner_->start(*this);
  wants_ = inner_->wants();
}

bool stage::wake_member(unsigned member) noexcept {
  for (unsigned rank = first_of(member); rank < end_of(member); ++rank) {
    if (real_.wake(rank)) return true;
  }
  return false;
}

void stage::wake_any(unsigned near) noexcept {
  // A group has many sleepers. Each call goes on to the next one, so that tasks that are queued in turn wake all
  // groups. any start will do
  const unsigned from = is_innermost() ? near : near + woken_.fetch_add(1, std::memory_order_relaxed);
  for (unsigned i = 0; i < members_; ++i) {
    const unsigned member = (from + i) % members_;
    // Who has something else of this level could not take it; it looks, and wakes, when that ends (leave_seat).
    if (!is_innermost() && seats_[member].busy.load() != 0) continue;
    if (wake_member(member)) return;
  }
}

unsigned stage::distance(unsigned a, unsigned b) const noexcept {
  return a == b ? 0 : machine().is_known() ? machine().distance(a, b) : 1;
}

double stage::speed(unsigned worker) const noexcept {
  double sum = 0;
  for (unsigned rank = first_of(worker); rank < end_of(worker); ++rank) sum += real_.speed(rank);
  return sum / (end_of(worker) - first_of(worker));
}

std::uint32_t stage::random(unsigned self, std::uint32_t bound) noexcept { return real_.random(actor(self), bound); }

// Above the innermost level an entry is the level_task: `levels` makes it a real one when the policy has chosen it.
entry stage::steal(unsigned self, unsigned victim, effort how) noexcept {
  if (is_innermost()) return real_.steal(first_ + self, first_ + victim, how);
  task* t = seats_[victim].own.pop_front();
  return t == nullptr ? 0 : entry_of(*t);
}

bool stage::has_work(unsigned victim) const noexcept {
  return is_innermost() ? real_.has_work(first_ + victim) : !seats_[victim].own.looks_empty();
}

void stage::request(unsigned self, unsigned victim) noexcept {
  if (is_innermost()) real_.request(first_ + self, first_ + victim);  // queues of seats are public
}

entry stage::newest(unsigned self) noexcept {
  if (is_innermost()) return real_.newest(first_ + self);
  task* t = seats_[self].own.pop_back();
  return t == nullptr ? 0 : entry_of(*t);
}

entry stage::oldest(unsigned self) noexcept {
  if (is_innermost()) return real_.oldest(first_ + self);
  task* t = seats_[self].own.pop_front();
  return t == nullptr ? 0 : entry_of(*t);
}

// Above the innermost level it is only known whether there are any.
unsigned stage::queued(unsigned worker) const noexcept {
  return is_innermost() ? real_.queued(first_ + worker) : seats_[worker].own.looks_empty() ? 0 : 1;
}

entry stage::entry_of(task& t) noexcept {
  level_task& it = level_task_of(t);
  return is_innermost() ? real_.entry_of(*it.real) : reinterpret_cast<entry>(&it);
}

void stage::widened() noexcept {
  if (is_innermost()) return real_.widened();
  for (unsigned m = 0; m < members_; ++m) wake_member(m);
}

void stage::interrupt(unsigned victim) noexcept {
  if (is_innermost()) real_.interrupt(first_ + victim);
}

// Above the innermost level every task is watched: `levels` has to see it go down.
void stage::watch(unsigned self, bool on) noexcept {
  if (is_innermost()) real_.watch(first_ + self, on);
}

void stage::warn_of_hint(unsigned self, const char* text, double value) noexcept {
  real_.warn_of_hint(actor(self), text, value);
}

void stage::remark(unsigned self, const char* text, std::uint64_t value) noexcept {
  real_.remark(actor(self), text, value);
}

}  // namespace heddle::policy
