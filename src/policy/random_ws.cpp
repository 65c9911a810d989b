// Random work stealing: an idle worker picks a victim uniformly at random and takes its oldest task. Children of
// groups are queued, as second halves of forks are, and their group's owner runs who is left (src/task/groups.md).
// With spawn=child each child runs at once, on a stack of its own, and its spawner's continuation is what thieves
// find. With spawn=parent each child is a ready thread in the queue.
//
// Source: Blumofe, Leiserson, "Scheduling multithreaded computations by work stealing", J. ACM 46(5), 1999.
//
// Deviation: a victim keeps its newest tasks private and is asked for work first (docs/investigations/deque.md).
#include "policy/random_ws.hpp"

#include "policy/parameters.hpp"

namespace heddle::policy {

entry random_ws::acquire(unsigned self, effort how) noexcept {
  const unsigned workers = host_->workers();
  if (workers < 2) return 0;
  unsigned victim = host_->random(self, workers - 1);
  victim += victim >= self ? 1u : 0u;
  const unsigned tries = how == effort::insist ? workers - 1 : 1;
  for (unsigned i = 0; i < tries; ++i) {
    if (const entry found = host_->steal(self, victim, how); found != 0) return found;
    if (how == effort::glance) host_->request(self, victim);
    victim = victim + 1 == workers ? 0 : victim + 1;
    if (victim == self) victim = victim + 1 == workers ? 0 : victim + 1;
  }
  return 0;
}

placement random_ws::spawn(unsigned, const spawn_info&) noexcept {
  return {spawn_ == order::parent ? placement::kind::parent_first : placement::kind::child_first, nobody, 0};
}

std::unique_ptr<policy> random_ws::make(const std::vector<parameter>& given) {
  parameters p("random_ws", given);
  const auto spawn = static_cast<order>(p.choice("spawn", "queued|child|parent"));
  p.finish();
  return std::make_unique<random_ws>(spawn);
}

}  // namespace heddle::policy
