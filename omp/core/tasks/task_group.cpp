#include "omp/core/tasks/task_group.hpp"

#include <new>
#include <utility>

#include "omp/core/tasks/task_reduction.hpp"
#include "omp/core/tasks/taskwait.hpp"

namespace heddle::omp {

void task_group::ended(const member_tasks* from) noexcept {
  if (home == from) {
    --here;
    return;
  }
  thread* const waits = home->owner;  // the group may be gone afterwards
  if (elsewhere.fetch_sub(1) == 1) waits->parker.wake_after_fence();
}

void begin_group(thread& self) {
  member_tasks& home = tasks_of(self);
  task_group* const kept = std::exchange(self.tasks.group, nullptr);
  // A former group may be used anew, because the thread that ended its last task had read its home before.
  auto* const group = kept != nullptr ? new (kept) task_group : new task_group;
  group->outer = self.running->group;
  group->home = &home;
  if (group->outer != nullptr) group->reduction_words = group->outer->reduction_words;
  self.running->group = group;
}

void end_group(thread& self) {
  task_group* const group = self.running->group;
  if (group->unfinished() != 0) {
    help_until(self, self.running, [&] { return group->unfinished() == 0; }, [&] { group->move_count(); });
  }
  if (group->reductions != nullptr) finish_reductions(*group);
  self.running->group = group->outer;
  if (self.tasks.group == nullptr) self.tasks.group = group;
  else delete group;
}

bool cancel_group(thread& self) noexcept {
  task_group* const group = self.running->group;
  if (group == nullptr) return false;
  group->cancelled.store(true);
  return true;
}

}  // namespace heddle::omp
