// A task: implicit, one a member of a team, or explicit. It carries the data environment's control variables, the
// nesting of groups and cancellation, and counts its children. Protocols and their labels: omp/tasks.md.
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
struct member_tasks;  // task_queue.hpp: what one member of one team has made
struct explicit_task;

struct task {
  task() = default;
  task(const task&) = delete;
  ~task();

  // --- what home reads and writes for each child that it makes: one line. Those who end children elsewhere write to
  // the next one, so nothing of this line is theirs to look at.
  team* in{nullptr};                            // whose threads may run it
  const control_variables* variables{nullptr};  // its own if owns_variables, else its team's
  task_group* group{nullptr};                   // the innermost taskgroup that it is in
  dependences* depends{nullptr};                // of its children; null: none had a depend clause
  // The member that runs it: written before it begins, so before it has a child. Of an implicit task: null until it
  // makes one. It never changes, for a task stays on the stack on which it began.
  member_tasks* home{nullptr};
  // [omp_task:10] A block that has been a child of this task, has ended, and is as make_task would make another one.
  // Home's own.
  explicit_task* spare{nullptr};
  // Deferred children, less those that have ended at home, and less what has been moved to `elsewhere`. Home's own.
  std::int32_t made{0};
  // Of explicit tasks below the implicit one. Written before the task is queued; atomic for the same reason as what
  // follows in explicit_task.
  std::atomic<std::uint32_t> depth{0};
  bool is_explicit{false};
  bool tied{true};
  bool is_final{false};
  bool owns_variables{false};
  bool over{false};        // its body has ended while children had not; home's own
  bool undeferred{false};  // so a tool was told; written where one listens alone
  // The number, modulo 2^16, of the member whose implicit task is its ancestor of depth 0, or itself. Atomic as
  // `depth`.
  std::atomic<std::uint16_t> root_member{0};

  // --- for those who end children of it
  task* parent{nullptr};  // null: of an initial thread's implicit task

  // [omp_task:2]: {alive:1, children that are over and have children themselves: 30, children that ended elsewhere less
  // those that were moved here from `made`: 32}. Changed by all who end children; publishes what they have done.
  static constexpr std::int64_t alive = std::int64_t{1} << 62;
  static constexpr std::int64_t one_orphaned = std::int64_t{1} << 32;
  std::atomic<std::int64_t> elsewhere{alive};

  // Those that it may write: a copy of its own from now on.
  control_variables& own_variables();

  // Home. Children that have not ended.
  std::int32_t unfinished() const noexcept {
    // acquire pairs with child_ended: what they have done
    return made - static_cast<std::int32_t>(elsewhere.load(std::memory_order_acquire));
  }
  // Home, before it sleeps until its children have ended: from now on the low half of `elsewhere` becomes 0 with the
  // last of them.
  void move_count() noexcept {
    if (made == 0) return;
    elsewhere.fetch_sub(made);
    made = 0;
  }
};

// What an ABI knows of its tasks. `discard`: the task was cancelled before it began; only what its body would have
// destroyed is to be destroyed.
using task_body = void (*)(explicit_task& it, thread& self, bool discard);

// Lives in a block (task_block.hpp), with its payload behind it or in memory of its own.
struct alignas(64) explicit_task : task {
  // These are read by thieves that do not know whether the task has been taken meanwhile, and are atomic therefore.
  std::atomic<const explicit_task*> root{nullptr};  // its ancestor of depth 1, or itself
  member_tasks* counted_by{nullptr};                // its parent's home; written when it is counted
  std::uint8_t block_class{0};
  bool plain{false};                   // nothing of it differs from what make_task has made
  bool intricate{false};               // has a node, a graph or variables of its own: more is to be done at its end
  bool detachable{false};              // ends when its event is fulfilled, too
  bool orphaned{false};                // is over, its block is kept for its children, and its parent's on its account
  bool own_payload{false};             // payload is from malloc
  std::atomic<std::uint8_t> event{0};  // detach.hpp
  std::uint8_t abi{0};                 // the ABI's own
  std::int32_t priority{0};
  std::uint32_t abi_flags{0};
  task_body body{nullptr};
  depend_node* node{nullptr};    // null: no depend clause
  explicit_task* next{nullptr};  // of free blocks, of the team's shared list, of tasks that become ready together
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

// The task whose payload that is.
inline explicit_task& for_payload(void* payload) noexcept { return *static_cast<explicit_task**>(payload)[-1]; }

// `of` is a task that cannot be freed meanwhile: queued in the caller's hand, or an ancestor of what the caller runs.
inline bool descends(const task& of, const task& from) noexcept {
  const task* t = &of;
  const std::uint32_t above = from.depth.load(std::memory_order_relaxed);  // relaxed: published with the tasks
  while (t->depth.load(std::memory_order_relaxed) > above) t = t->parent;
  return t == &from;
}

}  // namespace heddle::omp
