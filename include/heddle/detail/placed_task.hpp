// Tasks of another library (OpenMP's) that heddle's policy places among the workers. The library runs them itself, on
// threads of its own which are bound to workers. The policy sees each task as it sees the children of a group. Where a
// thread of the library looks for a task it asks the policy of its worker; and a worker whose thread sleeps takes a
// task by itself, and hands it over to the library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/detail/fork_queue.hpp>
#include <heddle/export.hpp>
#include <heddle/policy.hpp>

namespace heddle::detail {

// What a policy knows of the tasks that one task makes: a group, from the first of them until all that were made have
// ended. Touched on the task's own thread, but for `living`.
struct placed_children {
  void* data{nullptr};  // the policy's
  unsigned made{0};     // since the group began
  bool is_open{false};  // the policy was told of its beginning and not of its end
  bool waited{false};   // the policy was told that the owner waits
  // Tasks of the group that have not ended. Raised by the owner's thread, lowered by who ends one.
  std::atomic<std::uint32_t> living{0};
};

// A task as its policy sees it. In memory of the library's, which stays until placed_task_ended.
struct alignas(64) placed_task {
  // `hand_over` is called on a worker that has taken the task, on a user-level thread. It must not wait.
  explicit placed_task(job::code hand_over) noexcept : entry(hand_over) {}
  placed_task(const placed_task&) = delete;
  placed_task& operator=(const placed_task&) = delete;
  static placed_task& of(job* entry) noexcept {
    return *reinterpret_cast<placed_task*>(reinterpret_cast<std::byte*>(entry) - sizeof(policy::task));
  }

  // The runtime tells it from a thread's by where it lies in its cache line (policy_host::entry_of): it comes first.
  policy::task scheduling;
  job entry;
  placed_children children;
  placed_children* counted_by{nullptr};  // its maker's; null: the policy does not know of the task
  std::size_t bytes{0};                  // a hint of the bytes that it touches; 0: not given
  void* owner{nullptr};                  // the library's own
};
static_assert(sizeof(placed_task) == 128);

// Whether the policy of heddle::runtime::current() has a say in where such tasks run. That is every policy but serial,
// and random_ws without parameters, which does what a library's own queues do.
HEDDLE_API bool places_tasks() noexcept;

// The rank of the caller's worker; policy::nobody for a foreign kernel thread.
HEDDLE_API unsigned current_rank() noexcept;

// The calling thread, a user-level one, has made a task. It runs a task whose children are `maker` and which the policy
// knows as `by`; null: it runs none, and is itself what the policy knows. `label` stands for the task's code. False:
// the caller runs the task at once, because the worker's queue is full, or because the caller is on no worker. (In that
// case the policy does not know of the task.)
[[nodiscard]] HEDDLE_API bool place_task(placed_task& made, placed_children& maker, policy::task* by,
                                         const void* label) noexcept;

// What the policy has for the caller's worker. `insist` as policy::effort. Null: nothing, or no such task; other work
// that was found is made ready on this worker.
[[nodiscard]] HEDDLE_API placed_task* take_placed_task(bool insist) noexcept;
// Whether that could find something: a hint.
[[nodiscard]] HEDDLE_API bool may_find_placed_task() noexcept;

// The task or thread `by` is about to wait for its children; it goes on. `by` as above.
HEDDLE_API void placed_children_wait(placed_children& of, policy::task* by) noexcept;
HEDDLE_API void placed_children_go_on(placed_children& of, policy::task* by) noexcept;

// The task has ended, and so have all that it has made. It is not touched afterwards.
HEDDLE_API void placed_task_ended(placed_task& it) noexcept;

}  // namespace heddle::detail
