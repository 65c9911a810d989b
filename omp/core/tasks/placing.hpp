// OpenMP's tasks under a policy that says where they run: any but random_ws without parameters, and serial. A task is
// made as ever, but is not put into its maker's queue (task_queue.hpp): heddle's policy places it among the workers,
// and the member of the team that has that worker runs it. Protocol: "Placed tasks" in omp/tasks.md.
#pragma once

#include <atomic>
#include <cstddef>

#include "omp/core/locks/short_lock.hpp"
#include "omp/core/tasks/task.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {
struct region_body;
struct region_options;
}  // namespace heddle::omp

namespace heddle::omp::placing {

using heddle::detail::placed_task;

// Written once, before the process makes its first task.
inline constinit std::atomic<bool> is_on{false};
// Relaxed: whoever has a task has it from who made it, who has found this out.
inline bool on() noexcept { return is_on.load(std::memory_order_relaxed); }
// Returns whether the process's policy places tasks. Makes the runtime if the environment names a policy.
bool begin() noexcept;

// While tasks are placed every task has so many bytes at the end of its block.
inline constexpr std::size_t room = sizeof(placed_task);
placed_task& placed_of(explicit_task& it) noexcept;
// Makes them new, for a new task.
void prepare(explicit_task& it) noexcept;

// The tasks that a worker has taken for its member while the member waits. The worker gives them, the member takes
// them.
class mailbox {
 public:
  // The member waits in `under` from now on, as in team_tasks::find. It calls close() when it goes on.
  void open(const task* under) noexcept;
  void close() noexcept;
  // Returns false if the member does not wait, or must not run the task where it waits.
  [[nodiscard]] bool give(explicit_task& it) noexcept;
  [[nodiscard]] explicit_task* take() noexcept;
  bool looks_empty() const noexcept { return count_.load() == 0; }

 private:
  short_lock guard_;
  bool is_open_{false};
  const task* under_{nullptr};
  explicit_task* first_{nullptr};
  explicit_task* last_{nullptr};
  std::atomic<unsigned> count_{0};  // seq_cst: a member that is about to sleep looks at it after its fence
};

// Hands a ready task to the policy. Called by a thread of the team. Returns false if the caller must run the task.
[[nodiscard]] bool push(member_tasks& mine, explicit_task& it) noexcept;
// Returns a task that the member may run while it waits in `under`, or null if none was found.
explicit_task* take(member_tasks& mine, const task* under) noexcept;
bool may_find(const member_tasks& mine) noexcept;
// The member goes on, and leaves the rest of its mailbox to all members of the team.
void leave_to_others(thread& self) noexcept;

// The running task is about to wait for its children. The second function is called when it goes on.
void children_wait(thread& self) noexcept;
void children_go_on(thread& self) noexcept;
// All that the task has made has ended: before its parent hears of its end, or when its block is freed.
void ended(explicit_task& it) noexcept;

// Runs a region of several threads that a kernel thread encounters. A user-level thread leads the region in its place,
// with its thread-local storage, because a kernel thread has no worker for which the policy could be asked. Returns
// false if no such thread can be had; nothing was done then.
[[nodiscard]] bool lead(thread& self, const region_options& how, const region_body& body);

}  // namespace heddle::omp::placing
