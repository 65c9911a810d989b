// CRS, cluster-aware random stealing: an idle worker sends one request to a random worker of another cluster, does not
// wait for the answer, and meanwhile steals from random workers of its own cluster. While the request is under way it
// sends no other one. The answer goes to the worker itself, from which its neighbours may take it.
//
// Source: van Nieuwpoort, Kielmann, Bal, "Efficient load balancing for wide-area divide-and-conquer applications"
// (PPoPP 2001), as Chen and Guo (2017), Algorithm 4, describe it.
//
// Deviations, and why:
// - A cluster is a memory group (clusters.hpp); `level` chooses its level. With one cluster this is random stealing.
// - On simulated machines whose links have messages the victim's handler of messages answers while the victim computes,
//   and says so if the victim has nothing. On all others an answer comes at the victim's next fork or join, and a
//   request stands until the victim has something. After `patience` looks in vain the thief asks another one. If
//   patience is 0, the number of looks is that which fits into the time of a message there and back, and 64 at least.
//   A victim in a long leaf does not answer, so a thief that insists, has found nothing at home, and was not answered,
//   takes by force.
// - An answer lies in the thief's mailbox until the thief is idle. Neighbours that steal find it there.
#include "policy/clusters/crs.hpp"

namespace heddle::policy {

void crs::start(scheduler& host) {
  policy::start(host);
  clusters_.start(host, level_);
  wants_.asks = clusters_.are_several();
  if (patience_ == 0) patience_ = far_request::patience_for(host, clusters_, 64);
  far_.reset(new far_request[host.workers()]);
}

entry crs::acquire(unsigned self, effort how) noexcept {
  far_request& far = far_[self];
  if (clusters_.are_several() && !far.stands(*host_, self, patience_))
    far.send(*host_, self, clusters_.draw_remote(*host_, self));
  const worker_group& home = clusters_.of(self);
  const entry found = others(self, home.first, home.count).rob_at_random(*host_, how);
  if (found != 0 || how == effort::glance || !far.take_refusal()) return found;
  return force_remote(*host_, clusters_, self);
}

std::unique_ptr<policy> crs::make(parameters& given) {
  const unsigned level = clusters::asked_for(given);
  const auto patience = given.whole("patience", 0, 0, 1e9);
  return create<crs>(level, patience);
}

}  // namespace heddle::policy
