// Random task snatching: random work stealing, child first, where a worker that finds nothing to steal takes the
// running task of a random slower worker.
//
// Source: Bender and Rabin (2002), as Chen and Guo (2017), sections 5.3.1 and 5.10, describe and measure it ("RTS").
//
// Deviations, and why:
// - The book swaps the two kernel threads. Here the victim's time slice ends and the thief takes the task, which needs
//   a task that can be preempted (HEDDLE_PREEMPT, thread_options::preemption). The trace tells of those that cannot be.
// - A worker is slower if its speed is less than 7/8 of the thief's, because measured speeds are never equal.
#include "policy/asymmetric/rts.hpp"

#include "policy/stealing/random_ws.hpp"

namespace heddle::policy {

namespace {
constexpr double slower = 0.875;
}  // namespace

void rts::start(scheduler& host) {
  policy::start(host);
  snatching_.start(host);
}

// A task has a tag so that the policy is asked where it goes when it is interrupted.
placement rts::started(unsigned, const task_info& info) noexcept {
  info.made.tag = this;
  return placement::stay;
}
placement rts::spawn(unsigned, const task_info& info) noexcept {
  info.made.tag = this;
  return placement::child_first;
}

void rts::enqueue(unsigned, task& t) noexcept { snatching_.enqueue(t, t.to.target); }

placement rts::preempted(unsigned self, task& t) noexcept {
  const unsigned thief = snatching_.claimant_of(self);
  return thief == nobody ? placement::stay : send_to(t, thief);
}

entry rts::acquire(unsigned self, effort how) noexcept {
  task* const snatched = snatching_.take(self, how);
  const entry found =
      snatched != nullptr ? host_->entry_of(*snatched) : others(self, *host_).rob_at_random(*host_, how);
  if (found != 0) snatching_.fed(self);
  else if (how == effort::insist && host_->workers() > 1) {
    const unsigned first = host_->random(self, host_->workers());
    const auto turn = [&](unsigned w) { return (w + host_->workers() - first) % host_->workers(); };
    const double limit = slower * host_->speed(self);
    snatching_.try_claim(self, [&](unsigned best, unsigned w) {
      return host_->speed(w) > 0 && host_->speed(w) < limit && host_->running(w) != nullptr &&
             (best == nobody || turn(w) < turn(best));
    });
  }
  return found;
}

bool rts::may_find(unsigned self) noexcept { return snatching_.may_find(self) || policy::may_find(self); }

std::unique_ptr<policy> make_pfws(parameters& given) {
  return create<random_ws>(random_ws::order::parent, victim_memory::asked_for(given));
}

std::unique_ptr<policy> rts::make(parameters&) { return create<rts>(); }

}  // namespace heddle::policy
