// A taskgroup. At its end a thread waits for all tasks made in it, and for their descendants.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp/core/tasks/task.hpp"
#include "omp/core/tasks/task_queue.hpp"

namespace heddle::omp {

class thread;
struct task_reductions;  // task_reduction.hpp

struct task_group {
  // Read by all threads that run its tasks, seldom written. The counts are on lines of their own.
  task_group* outer{nullptr};
  // The member tasks of the thread that encountered the group, which waits at its end.
  member_tasks* home{nullptr};
  std::atomic<bool> cancelled{false};
  task_reductions* reductions{nullptr};  // for the LLVM ABI
  // For the GNU ABI: the newest array that is registered.
  std::uintptr_t* reduction_words{nullptr};
  bool of_work_share{false};  // begun by a work-sharing construct with a task reduction
  // [omp_task:5] The sum of both is the number of members of the group that have not ended. Only home changes `here`,
  // so when home reads `elsewhere`, the sum is exact.
  alignas(64) std::int64_t here{0};
  alignas(64) std::atomic<std::int64_t> elsewhere{0};

  void add(const member_tasks& from) noexcept {
    if (home == &from) ++here;
    // relaxed: its maker is counted until its own end
    else elsewhere.fetch_add(1, std::memory_order_relaxed);
  }
  // Called when the caller has ended a member. `from` is the caller's member tasks, null if it is no member. The group
  // may be gone afterwards.
  void ended(const member_tasks* from) noexcept;
  // Called by home.
  std::int64_t unfinished() const noexcept {
    // pairs with ended: makes visible what the tasks have done
    return here + elsewhere.load(std::memory_order_acquire);
  }
  // Called by home before it sleeps. From then on `elsewhere` becomes 0 with the last member.
  void move_count() noexcept {
    elsewhere.fetch_add(here);
    here = 0;
  }
};

// For the innermost group of the running task.
void begin_group(thread& self);
void end_group(thread& self);
// cancel taskgroup. Returns false if there is none.
bool cancel_group(thread& self) noexcept;
inline bool group_cancelled(const task& t) noexcept {
  const task_group* const group = t.group;
  if (group == nullptr) return false;
  // relaxed: cancellation may come late
  if (group->cancelled.load(std::memory_order_relaxed)) return true;
  return group->of_work_share && group->outer != nullptr && group->outer->cancelled.load(std::memory_order_relaxed);
}

}  // namespace heddle::omp
