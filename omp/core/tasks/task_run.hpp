// The making, beginning and ending of tasks. Protocol: omp/tasks.md.
#pragma once

#include <cstddef>

#include "omp/core/settings/environment.hpp"
#include "omp/core/tasks/task_group.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"
#include "omp/ompt/tasks.hpp"

namespace heddle::omp {

struct depend_list;

// Greater priorities count as the largest (OMP_MAX_TASK_PRIORITY).
int largest_priority() noexcept;

// The thread's member tasks in its present team.
inline member_tasks& tasks_of(thread& self) {
  member_tasks* const home = self.running->home;
  if (home != nullptr) [[likely]]
    return *home;
  return *(self.running->home = &self.in->tasks.of(self));
}

// Copies the control variables for a child of a task that has some of its own.
const control_variables* copy_variables(const task& from);

// Gives back the blocks that are kept for children of a task, and for their children.
void drop_spare(thread* self, task& of) noexcept;

// The same as make_task if no block is at hand that has been such a child.
explicit_task& make_task_anew(thread& self, task& parent, std::size_t payload);

// A new child of the running task in a block that has been such a child; null if there is none.
[[gnu::always_inline]] inline explicit_task* make_of_spare(thread& self, std::size_t payload) noexcept {
  task& parent = *self.running;
  explicit_task* const spare = parent.spare;
  if (spare == nullptr || spare->variables != parent.variables || payload > smallest_payload) return nullptr;
  self.did.tasks.add();  // [omp_task:10]
  parent.spare = nullptr;
  spare->group = parent.group;
  spare->is_final = parent.is_final;  // the parent's own block may have been another task when this one was made
  return spare;
}

// A new child of the running task, neither counted nor queued yet. The caller fills in its body, payload and clauses;
// code that changes anything else that is set here makes the task not plain. Throws std::bad_alloc.
[[gnu::always_inline]] inline explicit_task& make_task(thread& self, std::size_t payload) {
  explicit_task* const spare = make_of_spare(self, payload);
  if (spare != nullptr) return *spare;
  self.did.tasks.add();
  return make_task_anew(self, *self.running, payload);
}

// Begins a member's implicit task, before the member's part of a region.
void begin_implicit(task& it, team& in, unsigned number) noexcept;

// Called when the task is over, and so are those made in it, so that its block may go.
void free_task(thread* self, explicit_task& it) noexcept;
// Does the rest at a task's end, if that is more than to count it. `told_detached`: a tool has heard that the task
// waits for its event.
void end_slow(thread& self, member_tasks& mine, explicit_task& it, bool told_detached = false);
// Called when a child of p has ended that is not at home here, or if p is over. `self` is null if this is not an OpenMP
// thread.
void child_ended(thread* self, task& p, const member_tasks& home) noexcept;

// Whether the task must not begin, because its group or its team was cancelled.
inline bool is_cancelled(const explicit_task& it) noexcept {
  return (it.group != nullptr && group_cancelled(it)) || it.in->cancelled.load(std::memory_order_relaxed);
}

// Called in place of the body of a task that was cancelled before it began.
void discard_body(thread& self, explicit_task& it);

// Called after the task's body.
inline void end_task(thread& self, member_tasks& mine, explicit_task& it) {
  task& p = *it.parent;
  // acquire pairs with child_ended: makes its last access visible
  if (it.intricate || it.detachable || it.group != nullptr || it.counted_by != &mine || p.over ||
      it.elsewhere.load(std::memory_order_acquire) != task::alive + it.made) [[unlikely]] {
    end_slow(self, mine, it);
    return;
  }
  --p.made;
  self.tasks.blocks.put(it);
  mine.count_ended();
}

// Runs a task that has been taken from a queue, or could not be put into one, and ends it.
inline void run_task(thread& self, member_tasks& mine, explicit_task& it) {
  if (ompt::on()) [[unlikely]]
    return ompt::run_task(self, mine, it);
  task* const before = self.running;
  it.home = &mine;
  self.running = &it;
  if (is_cancelled(it)) [[unlikely]]
    discard_body(self, it);
  else it.body(it, self, false);
  self.running = before;
  end_task(self, mine, it);
  self.work.service.boundary();
}

// The same for a task whose parent waits for it here, and which is not counted. A task of which a tool has heard is not
// plain: its body and end_included_slow tell of the rest.
inline void begin_included(thread& self, explicit_task& it) {
  it.home = self.running->home;
  ++self.tasks.nested;
  self.running = &it;
}
void end_included_slow(thread& self, explicit_task& it);
inline void end_included(thread& self, explicit_task& it) {
  // acquire pairs with child_ended: makes its last access visible
  if (!it.plain || it.made != 0 || it.elsewhere.load(std::memory_order_acquire) != task::alive) [[unlikely]] {
    end_included_slow(self, it);
    return;
  }
  --self.tasks.nested;
  task& p = *it.parent;
  self.running = &p;
  if (p.spare == nullptr) [[likely]]
    p.spare = &it;
  else self.tasks.blocks.put(it);
}
inline void run_included(thread& self, explicit_task& it) {
  begin_included(self, it);
  if (is_cancelled(it)) [[unlikely]]
    discard_body(self, it);
  else it.body(it, self, false);
  end_included(self, it);
}

// Called before begin_included if the task has a depend clause: returns when the task may begin. If it has an event,
// dependent tasks wait for the event as for any task's end: the task is counted from here on, and stands in the graph.
void wait_for_predecessors(thread& self, explicit_task& it, const depend_list& list);

// The most tasks that are put on top of each other where they are made.
inline constexpr unsigned most_nested = 100;

// Counts a deferred task. From then on parent, group and team wait for it.
inline void count_task(member_tasks& mine, explicit_task& it) noexcept {
  mine.count_made();
  it.counted_by = &mine;
  ++it.parent->made;
  if (it.group != nullptr) it.group->add(mine);
}
// Queues a task that has been counted and is ready. Some thread will run it, perhaps the caller at once.
inline void queue_task(thread& self, member_tasks& mine, explicit_task& it) {
  if (!self.in->tasks.push(mine, it)) [[unlikely]]
    run_task(self, mine, it);
}

// Whether a new child of the running task must run where it is made, and not be deferred: all children of a final task,
// those of a team of one, where deferring has no use, and those of a member that has many in its queue already.
inline bool runs_in_place(const thread& self) noexcept {
  const task& parent = *self.running;
  return parent.is_final || (self.tasks.nested < most_nested &&
                             (self.in->size == 1 || (parent.home != nullptr && parent.home->has_enough(parent))));
}
inline bool runs_in_place(const thread& self, const explicit_task& it) noexcept {
  return runs_in_place(self) && (self.running->is_final || (it.priority <= 0 && !it.detachable));
}

// Queues a task without a depend clause, or runs it.
inline void submit(thread& self, explicit_task& it) {
  if (runs_in_place(self, it)) {
    run_included(self, it);
    return;
  }
  member_tasks& mine = tasks_of(self);
  count_task(mine, it);
  if (it.detachable && self.in->size == 1 && self.tasks.nested < most_nested) [[unlikely]]
    // Its body runs at once, like all in a team of one, but no thread waits here for its event.
    run_task(self, mine, it);
  else queue_task(self, mine, it);
}
// The same for a task with a depend clause.
void submit(thread& self, explicit_task& it, const depend_list& list);

// Runs one task that the thread may run while it waits in `under` (null: at a barrier). Returns false if none was
// found.
inline bool run_one(thread& self, const task* under) {
  member_tasks& mine = tasks_of(self);
  explicit_task* it = self.in->tasks.newest(mine, under);
  if (it == nullptr) it = self.in->tasks.find(mine, under);
  if (it == nullptr) return false;
  run_task(self, mine, *it);
  return true;
}

}  // namespace heddle::omp
