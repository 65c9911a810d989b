// The waits of a thread that may run tasks meanwhile: taskwait, the end of a taskgroup, barriers, events.
#pragma once

#include "omp/core/tasks/task_run.hpp"

namespace heddle::omp {

// Parks the thread until done() is true, or until there may be a task that it may run here: a descendant of `under`,
// the task that waits, or, if `under` is null (at a barrier), any task of the team. `settle` is called before a sleep,
// and done() once more after it. While open() is false the thread does not look for tasks. Protocol: [omp_task:8].
template <class Done, class Settle, class Open>
void park_for_task(thread& self, const task* under, Done done, Settle settle, Open open) {
  team& t = *self.in;
  task_sleeper sleeper;
  sleeper.who = &self;
  sleeper.under = under;
  bool listed = false;
  bool found = false;
  placing::mailbox* box = nullptr;
  const auto look = [&] {
    // A relaxed look: the thread that makes the first task of a region wakes all. It comes first, because a region
    // without tasks ends sooner if members in their idle wait do not read the line of its arrivals all the time.
    return t.tasked.load(std::memory_order_relaxed) && open() && t.tasks.may_find(t.tasks.known(self.number), under);
  };
  const auto called = [&] { return found || sleeper.woken.load() || (box != nullptr && !box->looks_empty()); };
  self.parker.wait([&] { return done() || (listed ? called() : look()); },
                   [&] {
                     // relaxed, after the fence of [parker:1]: the thread that makes the first task sets it, and wakes
                     // all
                     if (!listed && t.tasked.load(std::memory_order_relaxed) && open()) {
                       t.tasks.enlist(sleeper, t.tasks.known(self.number));
                       listed = true;
                       if (placing::on()) [[unlikely]] {
                         box = &tasks_of(self).given;
                         box->open(under);
                       }
                       if (!open()) {  // since just now: prepare() may have been before the listing
                         t.tasks.dismiss(sleeper);
                         listed = false;
                       }
                     }
                     settle();
                     found = look();
                   });
  if (box != nullptr) box->close();
  if (listed) t.tasks.dismiss(sleeper);
}

// Returns when done() is true. The thread that makes it true wakes the caller. Meanwhile the thread runs tasks, as
// above.
template <class Done, class Settle>
void help_until(thread& self, const task* under, Done done, Settle settle) {
  while (!done()) {
    if (run_one(self, under)) continue;
    self.in->tasks.hand_over(tasks_of(self));
    park_for_task(self, under, done, settle, [] { return true; });
  }
  if (placing::on()) [[unlikely]]
    placing::leave_to_others(self);
}

// Waits until all children of the running task have ended.
void wait_for_children(thread& self);
inline void taskwait(thread& self) {
  if (self.running->unfinished() != 0) wait_for_children(self);
}

// Runs a task if there is one that the thread may run here; otherwise lets other threads have the worker.
void taskyield(thread& self);

}  // namespace heddle::omp
