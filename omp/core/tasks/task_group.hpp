// A taskgroup: what a thread waits for at its end are all tasks made in it, and their descendants.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp/core/tasks/task.hpp"
#include "omp/core/tasks/task_queue.hpp"

namespace heddle::omp {

class thread;
struct task_reductions;  // task_reduction.hpp

struct task_group {
  // Read by all who run its tasks, seldom written; the counts are on lines of their own.
  task_group* outer{nullptr};
  member_tasks* home{nullptr};  // of the thread that encountered it, which waits at its end
  std::atomic<bool> cancelled{false};
  task_reductions* reductions{nullptr};      // of the LLVM ABI
  std::uintptr_t* reduction_words{nullptr};  // of the GNU ABI: the newest array that is registered
  bool of_work_share{false};                 // begun by a work-sharing construct with a task reduction
  // [omp_task:5] Members of the group that have not ended: the sum of both. `here` is changed by home alone, so when
  // home reads `elsewhere`, the sum is exact.
  alignas(64) std::int64_t here{0};
  alignas(64) std::atomic<std::int64_t> elsewhere{0};

  void add(const member_tasks& from) noexcept {
    if (home == &from) ++here;
    else elsewhere.fetch_add(1, std::memory_order_relaxed);  // its maker is counted until its own end
  }
  // The caller has ended one; `from`: what it is, null: no member. The group may be gone afterwards.
  void ended(const member_tasks* from) noexcept;
  // Home.
  std::int64_t unfinished() const noexcept {
    return here + elsewhere.load(std::memory_order_acquire);  // pairs with ended: what the tasks have done
  }
  // Home, before it sleeps: from now on `elsewhere` becomes 0 with the last.
  void move_count() noexcept {
    elsewhere.fetch_add(here);
    here = 0;
  }
};

// Of the innermost group of the running task.
void begin_group(thread& self);
void end_group(thread& self);
// cancel taskgroup; false: there is none.
bool cancel_group(thread& self) noexcept;
inline bool group_cancelled(const task& t) noexcept {
  const task_group* const group = t.group;
  if (group == nullptr) return false;
  // relaxed: cancellation may come late
  if (group->cancelled.load(std::memory_order_relaxed)) return true;
  return group->of_work_share && group->outer != nullptr && group->outer->cancelled.load(std::memory_order_relaxed);
}

}  // namespace heddle::omp
