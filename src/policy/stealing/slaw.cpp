// SLAW: each spawn runs the child first or the parent first, depending on what has happened to the worker lately.
//
// Source: Guo, Zhao, Cavé, Sarkar, "SLAW: a scalable locality-aware adaptive work-stealing scheduler" (IPDPS 2010), as
// Chen and Guo (2017), section 3.2, describe it. The first rule that applies decides:
// 1. a worker whose stack is S deep spawns parent first;
// 2. a worker with many queued tasks that have not begun spawns child first;
// 3. a worker from which many tasks were stolen in its last interval spawns parent first;
// 4. every other worker spawns child first.
//
// Deviations, and why:
// - The book gives no numbers: depth=256, fresh=64, interval=64 (spawns), steals=8 are ours; a worker begins child
//   first.
// - heddle's threads have stacks of their own, so the depth is the number of child-first spawns between a task and its
//   root.
// - A policy does not hear that a queued task has begun before that task spawns, is woken or ends. So a leaf that runs
//   is still counted as fresh, which is at most one task a worker.
// - Victims are drawn from all workers, because the book does not describe SLAW's places. A thief that insists tries
//   every worker.
// - Forks (parallel_invoke, loops) stay in the queue as under random_ws, because neither half is run "first" in the
//   paper's sense.
#include "policy/stealing/slaw.hpp"

#include <heddle/policy_victims.hpp>

namespace heddle::policy {

// The data in a task's room.
struct slaw::nesting {
  unsigned depth;
  unsigned counted_by;  // the worker in whose `fresh` it is counted; nobody if in none
};

namespace {

char child_mark;  // the tag of every child

}  // namespace

void slaw::start(scheduler& host) {
  policy::start(host);
  accounts_.reset(new account[host.workers()]);
  memory_.start(host.workers());
}

entry slaw::acquire(unsigned self, effort how) noexcept {
  const others victims(self, *host_);
  if (victims.size() == 0) return 0;
  return memory_.go_round(
      self, victims.size(), how, [&] { return host_->random(self, victims.size()); },
      [&](unsigned place) {
        const unsigned victim = victims[place];
        const entry found = rob(*host_, self, victim, how);
        if (found != 0) accounts_[victim].stolen.fetch_add(1, std::memory_order_relaxed);  // a statistic
        return found;
      },
      [&](unsigned place) { return host_->has_work(victims[place]); });
}

void slaw::has_begun(nesting& n) noexcept {
  if (n.counted_by == nobody) return;
  accounts_[n.counted_by].fresh.fetch_sub(1, std::memory_order_relaxed);  // a statistic
  n.counted_by = nobody;
}

placement slaw::spawn(unsigned self, const task_info& info) noexcept {
  account& mine = accounts_[self];
  unsigned depth = 0;
  if (info.parent->tag != nullptr) {
    auto& parent = info.parent->get<nesting>();
    has_begun(parent);
    depth = parent.depth;
  }
  if (++mine.spawns > at_.interval) {
    const unsigned stolen = mine.stolen.load(std::memory_order_relaxed);  // a statistic, as `fresh` below
    mine.parent_first = stolen - mine.seen > at_.steals;
    mine.seen = stolen;
    mine.spawns = 1;
  }
  bool parent_first = mine.parent_first;
  if (depth >= at_.depth) parent_first = true;
  // relaxed: a hint about how many tasks lie in the queue
  else if (mine.fresh.load(std::memory_order_relaxed) > at_.fresh) parent_first = false;

  if (parent_first) mine.fresh.fetch_add(1, std::memory_order_relaxed);
  info.made.keep<nesting>({parent_first ? depth : depth + 1, parent_first ? self : nobody});
  info.made.tag = &child_mark;
  return parent_first ? placement::parent_first : placement::child_first;
}

placement slaw::ready(unsigned, task& t) noexcept {
  has_begun(t.get<nesting>());
  return placement::stay;
}

void slaw::task_end(unsigned, task& t) noexcept { has_begun(t.get<nesting>()); }

std::unique_ptr<policy> slaw::make(parameters& given) {
  const auto number = [&given](const char* name, double standard, double least) {
    return static_cast<unsigned>(given.number(name, standard, least, 1e9));
  };
  const thresholds at{number("depth", 256, 0), number("fresh", 64, 0), number("interval", 64, 1),
                      number("steals", 8, 0)};
  return create<slaw>(at, victim_memory::asked_for(given));
}

}  // namespace heddle::policy
