#include "policy/levels/stage_host.hpp"

#include "policy/levels/stage.hpp"

namespace heddle::policy {

unsigned stage_host::workers() const noexcept { return stage_.members(); }

source stage_host::speed_source(unsigned worker) const noexcept { return real_.speed_source(stage_.first_of(worker)); }

unsigned stage_host::distance(unsigned a, unsigned b) const noexcept {
  return a == b ? 0 : machine().is_known() ? machine().distance(a, b) : 1;
}

double stage_host::speed(unsigned worker) const noexcept {
  double sum = 0;
  for (unsigned rank = stage_.first_of(worker); rank < stage_.end_of(worker); ++rank) sum += real_.speed(rank);
  return sum / (stage_.end_of(worker) - stage_.first_of(worker));
}

std::uint32_t stage_host::random(unsigned self, std::uint32_t bound) noexcept {
  return real_.random(stage_.actor(self), bound);
}

entry stage_host::steal(unsigned self, unsigned victim, effort how) noexcept {
  if (stage_.is_innermost()) return real_.steal(stage_.first_of(self), stage_.first_of(victim), how);
  task* t = stage_.queue_of(victim).own.pop_front();
  return t == nullptr ? 0 : stage_.entry_of(*t);
}

bool stage_host::has_work(unsigned victim) const noexcept {
  return stage_.is_innermost() ? real_.has_work(stage_.first_of(victim)) : !stage_.queue_of(victim).own.looks_empty();
}

void stage_host::request(unsigned self, unsigned victim) noexcept {
  if (stage_.is_innermost())
    real_.request(stage_.first_of(self), stage_.first_of(victim));  // queues of members' queues are public
}

entry stage_host::newest(unsigned self) noexcept {
  if (stage_.is_innermost()) return real_.newest(stage_.first_of(self));
  task* t = stage_.queue_of(self).own.pop_back();
  return t == nullptr ? 0 : stage_.entry_of(*t);
}

entry stage_host::oldest(unsigned self) noexcept {
  if (stage_.is_innermost()) return real_.oldest(stage_.first_of(self));
  task* t = stage_.queue_of(self).own.pop_front();
  return t == nullptr ? 0 : stage_.entry_of(*t);
}

// Above the innermost level it is only known whether there are any tasks.
unsigned stage_host::queued(unsigned worker) const noexcept {
  return stage_.is_innermost()                       ? real_.queued(stage_.first_of(worker))
         : stage_.queue_of(worker).own.looks_empty() ? 0
                                                     : 1;
}

entry stage_host::entry_of(task& t) noexcept { return stage_.entry_of(t); }

bool stage_host::wake(unsigned rank) noexcept { return stage_.wake_member(rank); }

void stage_host::wake_any(unsigned near) noexcept { stage_.wake_any(near); }

void stage_host::widened() noexcept {
  if (stage_.is_innermost()) return real_.widened();
  for (unsigned m = 0; m < stage_.members(); ++m) stage_.wake_member(m);
}

void stage_host::interrupt(unsigned victim) noexcept {
  if (stage_.is_innermost()) real_.interrupt(stage_.first_of(victim));
}

// Above the innermost level every task is watched, because `levels` has to see it go down.
void stage_host::watch(unsigned self, bool on) noexcept {
  if (stage_.is_innermost()) real_.watch(stage_.first_of(self), on);
}

void stage_host::warn_of_hint(unsigned self, const char* text, double value) noexcept {
  real_.warn_of_hint(stage_.actor(self), text, value);
}

void stage_host::remark(unsigned self, const char* text, std::uint64_t value) noexcept {
  real_.remark(stage_.actor(self), text, value);
}

}  // namespace heddle::policy
