#include "omp/core/tasks/task_run.hpp"

#include <utility>

#include "omp/core/tasks/depend.hpp"
#include "omp/core/tasks/detach.hpp"
#include "omp/core/tasks/placing.hpp"
#include "omp/core/tasks/task_reduction.hpp"

namespace heddle::omp {

namespace {

// [omp_task:3] The block of a task that is over stays as long as a descendant's does, because descendants are
// recognised by the chain of their parents. Called before the parent hears of the task's end.
void orphan(explicit_task& it) noexcept {
  if (!it.parent->is_explicit) return;  // implicit tasks outlive all others
  it.orphaned = true;
  it.parent->elsewhere.fetch_add(task::one_orphaned);
}

// Called by home, last of all. From then on children count themselves down in `elsewhere` only, and the last one frees
// the task. `kept` is the part of `elsewhere` that another thread will subtract.
void leave_to_children(thread& self, explicit_task& it, std::int64_t kept) noexcept {
  it.over = true;
  const std::int64_t less = task::alive + it.made - kept;
  it.made = 0;
  if (it.elsewhere.fetch_sub(less) == less) free_task(&self, it);
}

bool childless(const explicit_task& it) noexcept {
  // acquire pairs with child_ended: makes its last access visible
  return it.elsewhere.load(std::memory_order_acquire) == task::alive + it.made;
}

bool was_discarded(const explicit_task& it) noexcept {
  // relaxed: set by this thread
  return (it.event.load(std::memory_order_relaxed) & event_bits::not_begun) != 0;
}

// Releases the part of a task's block that an event holds.
void release(thread* self, explicit_task& it) noexcept {
  if (it.elsewhere.fetch_sub(task::one_orphaned) == task::one_orphaned) free_task(self, it);
}

// For threads that are not OpenMP's and that fulfil events.
void put_outside(explicit_task& it) noexcept {
  task_blocks blocks;  // its destructor brings the block to the depot
  blocks.put(it);
}

}  // namespace

int largest_priority() noexcept { return process_environment().max_task_priority; }

const control_variables* copy_variables(const task& from) { return new control_variables(*from.variables); }

explicit_task& make_task_anew(thread& self, task& parent, std::size_t payload) {
  const bool placed = placing::on();
  explicit_task& it = self.tasks.blocks.take(placed ? payload + placing::room : payload);
  if (placed) [[unlikely]]
    placing::prepare(it);
  if (it.spare != nullptr) [[unlikely]]
    drop_spare(&self, it);
  it.parent = &parent;
  it.in = parent.in;
  it.variables = parent.variables;
  it.owns_variables = false;
  it.group = parent.group;
  it.depends = nullptr;
  it.home = nullptr;
  it.made = 0;
  // relaxed, as elsewhere
  it.depth.store(parent.depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  it.is_explicit = true;
  it.tied = true;
  it.is_final = parent.is_final;
  it.over = false;
  it.elsewhere.store(task::alive, std::memory_order_relaxed);  // relaxed: published with the task, as all here
  it.root_member.store(parent.root_member.load(std::memory_order_relaxed), std::memory_order_relaxed);
  it.root.store(parent.is_explicit ? static_cast<explicit_task&>(parent).root.load(std::memory_order_relaxed) : &it,
                std::memory_order_relaxed);
  it.plain = payload <= smallest_payload;
  it.intricate = false;
  it.detachable = false;
  it.orphaned = false;
  it.event.store(0, std::memory_order_relaxed);  // relaxed: published with the task
  it.priority = 0;
  it.node = nullptr;
  if (parent.owns_variables) [[unlikely]] {
    it.variables = copy_variables(parent);
    it.owns_variables = true;
    it.make_intricate();
  }
  return it;
}

void drop_spare(thread* self, task& of) noexcept {
  for (explicit_task* it = std::exchange(of.spare, nullptr); it != nullptr;) {
    explicit_task* const next = std::exchange(it->spare, nullptr);
    if (self != nullptr) self->tasks.blocks.put(*it);
    else put_outside(*it);
    it = next;
  }
}

task::~task() {
  drop_spare(nullptr, *this);
  if (depends != nullptr) drop_dependences(*this);
  drop_own_variables(*this);
}

void begin_implicit(task& it, team& in, unsigned number) noexcept {
  if (it.depends != nullptr) forget_dependences(it);
  drop_own_variables(it);
  it.parent = in.outer_task;
  it.in = &in;
  it.variables = &in.variables;
  it.group = nullptr;
  it.home = nullptr;
  it.made = 0;
  // relaxed: published with its children
  it.root_member.store(static_cast<std::uint16_t>(number), std::memory_order_relaxed);
  // relaxed: no other thread knows of it; published with its children
  it.elsewhere.store(task::alive, std::memory_order_relaxed);
}

void free_task(thread* self, explicit_task& first) noexcept {
  for (explicit_task* it = &first;;) {
    if (placing::on()) [[unlikely]]
      placing::ended(*it);
    task* const parent = it->orphaned ? it->parent : nullptr;
    if (it->depends != nullptr) drop_dependences(*it);
    drop_own_variables(*it);
    if (self != nullptr) self->tasks.blocks.put(*it);
    else put_outside(*it);
    if (parent == nullptr || parent->elsewhere.fetch_sub(task::one_orphaned) != task::one_orphaned) return;
    it = static_cast<explicit_task*>(parent);
  }
}

void child_ended(thread* self, task& p, const member_tasks& home) noexcept {
  thread* const waits = home.owner;
  const std::int64_t now = p.elsewhere.fetch_add(1) + 1;
  if (static_cast<std::int32_t>(now) != 0) return;
  if (now >= task::alive) waits->parker.wake_after_fence();
  else if (now == 0) free_task(self, static_cast<explicit_task&>(p));
}

// [omp_task:4]: a task's end is told in this order: to successors, group, parent, team.
void end_slow(thread& self, member_tasks& mine, explicit_task& it, bool told_detached) {
  const bool has_event = it.detachable;
  const bool discarded = has_event && was_discarded(it);
  if (has_event) {
    orphan(it);
    leave_to_children(self, it, task::one_orphaned);  // the event's part
    if (!discarded && !body_ends(it)) return;
    if (told_detached) ompt::fulfilled_late(it);
  }
  if (it.node != nullptr) end_node(&self, &mine, it);
  const bool last = !has_event && childless(it);
  if (!has_event && !last) orphan(it);
  if (last && placing::on()) placing::ended(it);  // before the parent, which may be gone afterwards, hears of it
  if (it.group != nullptr) it.group->ended(&mine);
  task& p = *it.parent;
  if (it.counted_by == &mine && !p.over) --p.made;
  else child_ended(&self, p, *it.counted_by);
  if (last) free_task(&self, it);
  else if (!has_event) leave_to_children(self, it, 0);
  else if (!discarded || is_discarded(it)) release(&self, it);
  mine.count_ended();
}

// Called by the thread that fulfils an event after the task's body, on any thread. It touches nothing of a member.
void end_outside(explicit_task& it) noexcept {
  team& whose = *it.in;
  team_tasks& tasks = whose.tasks;
  thread* const self = thread::current_or_null();
  tasks.outside.fetch_add(1);  // the team stays until this falls
  if (it.node != nullptr) end_node(self, nullptr, it);
  if (it.group != nullptr) it.group->ended(nullptr);
  child_ended(self, *it.parent, *it.counted_by);
  release(self, it);
  tasks.ended_outside.fetch_add(1);
  whose.tasks_ended();
  tasks.outside.fetch_sub(1);
}

void release_block(explicit_task& it) noexcept { release(thread::current_or_null(), it); }

void discard_body(thread& self, explicit_task& it) {
  if (it.detachable) it.event.fetch_or(event_bits::not_begun);
  it.body(it, self, true);
}

void end_included_slow(thread& self, explicit_task& it) {
  bool told_detached = false;
  if (ompt::on()) [[unlikely]]
    told_detached = ompt::included_ends(self, it);
  --self.tasks.nested;
  self.running = it.parent;
  // The parent goes on. A thread that waits for tasks waits for its event, as for a deferred task's.
  if (it.detachable) {
    member_tasks& mine = tasks_of(self);
    // If it is set, it is the same, and the threads that run its children read it.
    if (it.home == nullptr) it.home = &mine;
    if (it.node == nullptr) count_task(mine, it);  // else wait_for_predecessors has counted it
    end_slow(self, mine, it, told_detached);
    return;
  }
  if (childless(it)) {
    free_task(&self, it);
    return;
  }
  orphan(it);
  leave_to_children(self, it, 0);
}

void wait_for_predecessors(thread& self, explicit_task& it, const depend_list& list) {
  if (!it.detachable) return wait_for_predecessors(self, list);
  count_task(tasks_of(self), it);
  add_node_and_wait(self, it, list);
}

void submit(thread& self, explicit_task& it, const depend_list& list) {
  task& parent = *self.running;
  // If there is a graph, the function does not check whether the queue has enough, because thieves write the line that
  // tells.
  if ((parent.depends == nullptr || (self.in->size == 1 && parent.unfinished() == 0)) && runs_in_place(self, it) &&
      !it.detachable) {
    run_included(self, it);
    return;
  }
  if (self.running->is_final) {
    wait_for_predecessors(self, it, list);
    run_included(self, it);
    return;
  }
  member_tasks& mine = tasks_of(self);
  count_task(mine, it);
  if (add_node(self, it, list)) queue_task(self, mine, it);
  stay_near(self, parent);
}

}  // namespace heddle::omp
