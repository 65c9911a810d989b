// Random work stealing: an idle worker picks a victim uniformly at random and takes its oldest task. Children of groups
// are queued, as second halves of forks are, and their group's owner runs those that are left (src/task/groups.md).
// With spawn=child each child runs at once, on a stack of its own, and thieves find its spawner's continuation. With
// spawn=parent each child is a ready thread in the queue. victim=history and victim=hybrid begin at a victim where
// something was found before.
//
// Source: Blumofe, Leiserson, "Scheduling multithreaded computations by work stealing", J. ACM 46(5), 1999.
//
// Deviation: a victim keeps its newest tasks private and is asked for work first (docs/investigations/deque.md).
#include "policy/stealing/random_ws.hpp"

namespace heddle::policy {

entry random_ws::acquire(unsigned self, effort how) noexcept {
  return others(self, *host_).rob_as_remembered(*host_, how, memory_);
}

void random_ws::start(scheduler& host) {
  policy::start(host);
  memory_.start(host.workers());
  if (spawn_ == order::queued) wants_.spawns = false;
}

placement random_ws::spawn(unsigned, const task_info&) noexcept {
  return spawn_ == order::parent ? placement::parent_first : placement::child_first;
}

std::unique_ptr<policy> random_ws::make(parameters& given) {
  const auto spawn = static_cast<order>(given.choice("spawn", "queued|child|parent"));
  return create<random_ws>(spawn, victim_memory::asked_for(given));
}

}  // namespace heddle::policy
