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

// The tasks that one task makes, as the policy sees them: a group, which lasts from the first of them until all have
// ended. Only the maker's own thread touches this, except for `living`.
struct placed_children {
  void* data{nullptr};  // the policy's
  unsigned made{0};     // since the group began
  bool is_open{false};  // the policy was told of its beginning and not of its end
  bool waited{false};   // the policy was told that the owner waits
  // The number of tasks of the group that have not ended. The owner's thread raises it, and the thread that ends a task
  // lowers it.
  std::atomic<std::uint32_t> living{0};
};

// A task as its policy sees it. It lies in the library's memory until placed_task_ended.
struct alignas(64) placed_task {
  // `hand_over` is called on a worker that has taken the task, on a user-level thread. It must not wait.
  explicit placed_task(job::code hand_over) noexcept : entry(hand_over) {}
  placed_task(const placed_task&) = delete;
  placed_task& operator=(const placed_task&) = delete;
  static placed_task& of(job* it) noexcept {
    return *reinterpret_cast<placed_task*>(reinterpret_cast<std::byte*>(it) - sizeof(policy::task));
  }

  // This member comes first. By its place in the cache line the runtime tells it from that of a thread
  // (policy_host::entry_of).
  policy::task scheduling;
  job entry;
  placed_children children;
  placed_children* counted_by{nullptr};  // the maker's; null while the policy does not know the task
  std::size_t bytes{0};                  // a hint: the bytes that the task touches, or 0
  void* owner{nullptr};                  // the library's own
};
static_assert(sizeof(placed_task) == 128);

// Returns whether the policy of heddle::runtime::current() has a say in where such tasks run. Every policy has, except
// serial, and random_ws without parameters, which does what a library's own queues do.
HEDDLE_API bool places_tasks() noexcept;

// Returns the rank of the caller's worker, or policy::nobody for a foreign kernel thread.
HEDDLE_API unsigned current_rank() noexcept;

// Tells the policy of a task that the calling thread has made. `maker` has the children of the task that the thread
// runs, and `by` is that task as the policy knows it. `by` is null if the policy knows the thread itself instead.
// `label` stands for the task's code. Returns false if the caller must run the task at once, because the worker's queue
// is full or the caller is on no worker. (In the latter case the policy does not know the task.)
[[nodiscard]] HEDDLE_API bool place_task(placed_task& made, placed_children& maker, policy::task* by,
                                         const void* label) noexcept;

// Takes what the policy has for the caller's worker. `insist` is as in policy::effort. Returns null if nothing was
// found, or other work, which becomes ready on this worker then.
[[nodiscard]] HEDDLE_API placed_task* take_placed_task(bool insist) noexcept;
// Returns whether take_placed_task could find something. This is a hint.
[[nodiscard]] HEDDLE_API bool may_find_placed_task() noexcept;

// The task or thread `by` (as above) is about to wait for its children. The second function is called when it goes on.
HEDDLE_API void placed_children_wait(placed_children& of, policy::task* by) noexcept;
HEDDLE_API void placed_children_go_on(placed_children& of, policy::task* by) noexcept;

// The task has ended, and so have all tasks that it has made. Nothing touches it after this call.
HEDDLE_API void placed_task_ended(placed_task& it) noexcept;

}  // namespace heddle::detail
