// Hierarchical work stealing: a thief first tries random victims in its own innermost memory group. After some
// failures it tries the next larger group, and so on; a success brings it back to the innermost one.
// Children of groups are queued, as under random_ws.
//
// Sources: Min, Iancu, Yelick, "Hierarchical work stealing on manycore clusters" (PGAS 2011), the thief's side of
// HotSLAW; Quintin, Wagner, "Hierarchical work-stealing" (Euro-Par 2010); as the baseline of the ADWS thesis
// (section 4.4) describes them.
//
// Deviations, and why:
// - No chunks are taken, because a fork queue's oldest entry is the largest piece there is.
// - The papers name no number of attempts. Ours is twice the number of victims in the ring, or `attempts`.
// - A thief that insists tries every victim, nearest first. Otherwise a far victim in a long leaf would keep its work.
#include "policy/stealing/hierarchical_ws.hpp"

namespace heddle::policy {

void hierarchical_ws::start(scheduler& host) {
  policy::start(host);
  const unsigned workers = host.workers();
  thieves_.reset(new thief[workers]);
  memory_.start(workers);
  for (unsigned self = 0; self < workers; ++self) thieves_[self].victims = rings(self, host, rings::order::by_rank);
}

entry hierarchical_ws::acquire(unsigned self, effort how) noexcept {
  thief& t = thieves_[self];
  if (t.victims.count() == 0) return 0;
  if (how == effort::insist) {
    for (const unsigned victim : t.victims.workers()) {
      if (const entry found = host_->steal(self, victim, how); found != 0) {
        t.ring = t.failures = 0;
        return found;
      }
    }
    return 0;
  }
  const unsigned within = t.victims.end_of(t.ring);
  const entry found = memory_.go_round(
      self, within, how, [&] { return host_->random(self, within); },
      [&](unsigned place) { return rob(*host_, self, t.victims.workers()[place], how); },
      [&](unsigned place) { return host_->has_work(t.victims.workers()[place]); });
  if (found != 0) {
    t.ring = t.failures = 0;
    return found;
  }
  if (++t.failures >= (attempts_ != 0 ? attempts_ : 2 * within)) {
    t.failures = 0;
    t.ring = t.ring + 1 == t.victims.count() ? 0 : t.ring + 1;
  }
  return 0;
}

std::unique_ptr<policy> hierarchical_ws::make(parameters& given) {
  const auto attempts = given.whole("attempts", 0, 0, 1e6);
  return create<hierarchical_ws>(attempts, victim_memory::asked_for(given));
}

}  // namespace heddle::policy
