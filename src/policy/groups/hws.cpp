// HWS: tasks near the root of the tree are global, the others local. Each memory group has a leader, which runs global
// tasks. Leaders alone steal global tasks from other groups. A group's other workers, the slaves, steal from each
// other.
//
// Source: Quintin, Wagner, "Hierarchical work-stealing" (Euro-Par 2010), as Chen and Guo (2017), section 3.2,
// describe it.
//
// Deviations, and why:
// - A group is a memory group of the topmost level that has several (worker_groups.hpp); its leader is its first
//   worker.
// - The paper's limit is set by the user: `level`. When it is 0, ours is the smallest l with 2^l >= 4 groups. A task
//   of level l is still global.
// - In the paper the leader feeds its group on signs of starvation. heddle's leader may be in a long leaf just then.
//   So a slave that has searched in vain `attempts` times (ours: twice the group's workers) takes the oldest global
//   task, which is local from then on. A root stays global, because as a local task it would keep a whole program
//   within one group.
// - A leader that insists works on its group's local tasks, instead of idling through a long local phase. The one
//   worker of a one-worker group always does. Leaders that insist rob such lone workers, too, because nobody else
//   could.
// - Local children of a global task are queued for the slaves; below them, children run first. A global task that was
//   woken goes to the group of the worker that woke it.
#include "policy/groups/hws.hpp"

#include <heddle/policy_victims.hpp>

namespace heddle::policy {

namespace {

char global_mark;  // the tag of every global task; a local one has none

// The level in the tree of a global task.
unsigned& level_of(task& t) noexcept { return t.get<unsigned>(); }

}  // namespace

void hws::start(scheduler& host) {
  policy::start(host);
  memory_.start(host.workers());
  const std::vector<worker_group> groups = worker_groups(host);
  count_ = static_cast<unsigned>(groups.size());
  groups_.reset(new group[count_]);
  for (unsigned g = 0; g < count_; ++g) groups_[g].workers = groups[g];
  of_ = group_of_ranks(groups, host.workers());
  hunger_.reset(new hunger[host.workers()]);
  for (unsigned tasks = 1; limit_ == 0 || (1u << limit_) < tasks; ++limit_) tasks = 4 * count_;
}

// --- where tasks stand -------------------------------------------------------------------------------------------

placement hws::started(unsigned, const task_info& info) noexcept {
  info.made.keep(0u);
  info.made.tag = &global_mark;
  return placement::send;
}

placement hws::child_of(task& parent, task& child) noexcept {
  const unsigned level = level_of(parent) + 1;
  if (level <= limit_) {
    child.keep(level);
    child.tag = &global_mark;
  }
  return placement::send;
}

placement hws::spawn(unsigned, const task_info& info) noexcept {
  return info.parent->tag == nullptr ? placement::child_first : child_of(*info.parent, info.made);
}

placement hws::fork(unsigned, const fork_info& info, const task_info& half) noexcept {
  return child_of(info.owner, half.made);
}

placement hws::ready(unsigned, task&) noexcept { return placement::send; }

void hws::enqueue(unsigned self, task& t) noexcept {
  group& mine = groups_[self == nobody ? 0 : of_[self]];
  const bool global = t.tag != nullptr;  // read before the task is in a list, because from then on it may run and end
  (global ? mine.global : mine.local).push_front(t);
  for (unsigned i = 0; i < mine.workers.count; ++i) {
    if (mine.workers.first + i != self) host_->wake(mine.workers.first + i);
  }
  if (!global) return;
  for (unsigned g = 0; g < count_; ++g) {
    if (&groups_[g] != &mine) host_->wake(groups_[g].workers.first);
  }
}

// --- who takes them ----------------------------------------------------------------------------------------------

bool hws::may_rob(unsigned self, unsigned victim) noexcept {
  if (self == victim) return false;
  const worker_group& its = groups_[of_[victim]].workers;
  return its.has(self) || (its.count == 1 && leads(self));
}

entry hws::take_global(unsigned self, group& mine) noexcept {
  if (const entry found = taken(mine.global.pop_front()); found != 0) return found;
  if (count_ < 2) return 0;
  const unsigned offset = host_->random(self, count_);
  for (unsigned i = 0; i < count_; ++i) {
    group& other = groups_[(offset + i) % count_];
    if (&other == &mine) continue;
    // the oldest task, which is the most work for one steal
    if (const entry found = taken(other.global.pop_back()); found != 0) return found;
  }
  return 0;
}

// Takes from the group's queue, then from a worker of the group; a worker that insists tries every one.
entry hws::take_local(unsigned self, group& mine, effort how) noexcept {
  if (const entry found = taken(mine.local.pop_front()); found != 0) return found;
  return others(self, mine.workers.first, mine.workers.count).rob_as_remembered(*host_, how, memory_);
}

entry hws::make_local(group& mine) noexcept {
  task* t = mine.global.pop_back();
  // The task becomes local, with all that it will spawn.
  if (t != nullptr && t->tag != nullptr && level_of(*t) > 0) t->tag = nullptr;
  return taken(t);
}

entry hws::pick(unsigned self, bool own_is_empty) noexcept {
  if (!own_is_empty) return 0;
  group& mine = groups_[of_[self]];
  if (!leads(self)) return taken(mine.local.pop_front());
  const entry found = taken(mine.global.pop_front());
  return found != 0 || mine.workers.count > 1 ? found : taken(mine.local.pop_front());
}

entry hws::acquire(unsigned self, effort how) noexcept {
  group& mine = groups_[of_[self]];
  if (leads(self)) {
    if (const entry found = take_global(self, mine); found != 0) return found;
    if (how == effort::glance && mine.workers.count > 1) return 0;
    if (const entry found = take_local(self, mine, how); found != 0 || how == effort::glance) return found;
    for (unsigned g = 0; g < count_; ++g) {
      const worker_group& other = groups_[g].workers;
      if (&groups_[g] == &mine || other.count > 1 || !host_->has_work(other.first)) continue;
      if (const entry found = host_->steal(self, other.first, how); found != 0) return found;
    }
    return 0;
  }
  unsigned& failures = hunger_[self].failures;
  entry found = take_local(self, mine, how);
  if (found == 0 && ++failures >= (attempts_ != 0 ? attempts_ : 2 * mine.workers.count)) found = make_local(mine);
  if (found != 0) failures = 0;
  return found;
}

bool hws::may_find(unsigned self) noexcept {
  const group& mine = groups_[of_[self]];
  if (!mine.local.looks_empty() || !mine.global.looks_empty()) return true;
  for (unsigned g = 0; g < count_ && leads(self); ++g) {
    if (!groups_[g].global.looks_empty()) return true;
  }
  for (unsigned victim = 0; victim < host_->workers(); ++victim) {
    if (may_rob(self, victim) && host_->has_work(victim)) return true;
  }
  return false;
}

std::unique_ptr<policy> hws::make(parameters& given) {
  const auto level = given.whole("level", 0, 0, 30);
  const auto attempts = given.whole("attempts", 0, 0, 1e6);
  return create<hws>(level, attempts, victim_memory::asked_for(given));
}

}  // namespace heddle::policy
