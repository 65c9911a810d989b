// A task: an implicit one, which each member of a team has, or an explicit one. It carries the data environment's
// control variables, and the nesting of groups and cancellation, and counts its children. Protocols and their labels:
// omp/tasks.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "omp/core/settings/icv.hpp"
#include "omp/ompt/state.hpp"

namespace heddle::omp {

class thread;
struct team;
struct task_group;
struct dependences;   // depend.hpp: the graph that the children of one task form
struct depend_node;   // depend.hpp: a task in its parent's graph
struct member_tasks;  // task_queue.hpp: the tasks that a member of a team has made
struct explicit_task;

struct task {
  task() = default;
  task(const task&) = delete;
  ~task();

  // --- the fields that home reads and writes for each child that it makes: one line. Threads that end children
  // elsewhere write to the next line, and never need to look at this line.
  team* in{nullptr};                            // the team whose threads may run it
  const control_variables* variables{nullptr};  // its own if owns_variables, else its team's
  task_group* group{nullptr};                   // the innermost taskgroup in which it is
  dependences* depends{nullptr};                // the graph of its children; null if none had a depend clause
  // The member that runs it: written before it begins, so before it has a child. In an implicit task it is null until
  // the task makes a child. It never changes, because a task stays on the stack on which it began.
  member_tasks* home{nullptr};
  // [omp_task:10] A block that has been a child of this task, has ended, and is as make_task would make another one.
  // Used by home alone.
  explicit_task* spare{nullptr};
  // The deferred children, less those that have ended at home, and less the count that has been moved to `elsewhere`.
  // Used by home alone.
  std::int32_t made{0};
  // The number of explicit tasks above it, itself included. Written before the task is queued; atomic for the same
  // reason as the fields of explicit_task.
  std::atomic<std::uint32_t> depth{0};
  bool is_explicit{false};
  bool tied{true};
  bool is_final{false};
  bool owns_variables{false};
  // Its body has ended while children had not. Used by home alone.
  bool over{false};
  // A tool was told that it is undeferred. Written only where a tool listens.
  bool undeferred{false};
  // The number, modulo 2^16, of the member whose implicit task is its ancestor of depth 0, or the task itself. Atomic
  // as `depth`.
  std::atomic<std::uint16_t> root_member{0};

  // --- for the threads that end its children
  task* parent{nullptr};  // null for an initial thread's implicit task

  // [omp_task:2]: {alive:1, children that are over and have children themselves: 30, children that ended elsewhere less
  // the count that was moved here from `made`: 32}. Changed by all threads that end children; publishes what they have
  // done.
  static constexpr std::int64_t alive = std::int64_t{1} << 62;
  static constexpr std::int64_t one_orphaned = std::int64_t{1} << 32;
  std::atomic<std::int64_t> elsewhere{alive};

  // The variables that it may write: a copy of its own from then on.
  control_variables& own_variables();

  // Called by home. The number of children that have not ended.
  std::int32_t unfinished() const noexcept {
    // acquire pairs with child_ended: makes visible what they have done
    return made - static_cast<std::int32_t>(elsewhere.load(std::memory_order_acquire));
  }
  // Called by home before it sleeps until its children have ended. From then on the low half of `elsewhere` becomes 0
  // with the last of them.
  void move_count() noexcept {
    if (made == 0) return;
    elsewhere.fetch_sub(made);
    made = 0;
  }
};

// The body of a task, as its ABI defines it. `discard`: the task was cancelled before it began, so the body only
// destroys what it would have destroyed at its end.
using task_body = void (*)(explicit_task& it, thread& self, bool discard);

// An explicit task lives in a block (task_block.hpp), with its payload behind it or in memory of its own.
struct alignas(64) explicit_task : task {
  // Thieves read these without knowing whether the task has been taken meanwhile, so they are atomic.
  std::atomic<const explicit_task*> root{nullptr};  // its ancestor of depth 1, or itself
  member_tasks* counted_by{nullptr};                // its parent's home; written when it is counted
  std::uint8_t block_class{0};
  bool plain{false};  // it differs in nothing from what make_task has made
  // It has a node, a graph or variables of its own, so its end has more to do.
  bool intricate{false};
  bool detachable{false};  // it ends only when its event is fulfilled, too
  // It is over. Its block is kept for its children, and its parent's block because of it.
  bool orphaned{false};
  bool own_payload{false};             // payload is from malloc
  std::atomic<std::uint8_t> event{0};  // detach.hpp
  std::uint8_t abi{0};                 // for the ABI's use
  std::int32_t priority{0};
  std::uint32_t abi_flags{0};
  task_body body{nullptr};
  depend_node* node{nullptr};  // null if it has no depend clause
  // Links free blocks, the team's shared list, or tasks that become ready together.
  explicit_task* next{nullptr};
  void* payload{nullptr};
  void* abi_word{nullptr};
  ompt::task_record tool{};
  explicit_task* self{nullptr};  // the word in front of the payload: for_payload

  void make_intricate() noexcept {
    plain = false;
    intricate = true;
  }
};
static_assert(sizeof(task) == 80 && sizeof(explicit_task) == 192);

// The task with that payload.
inline explicit_task& for_payload(void* payload) noexcept { return *static_cast<explicit_task**>(payload)[-1]; }

// `of` must be a task that cannot be freed meanwhile: queued in the caller's hand, or an ancestor of the caller's task.
inline bool descends(const task& of, const task& from) noexcept {
  const task* t = &of;
  const std::uint32_t above = from.depth.load(std::memory_order_relaxed);  // relaxed: published with the tasks
  while (t->depth.load(std::memory_order_relaxed) > above) t = t->parent;
  return t == &from;
}

}  // namespace heddle::omp
