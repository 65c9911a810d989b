// Whether a tool (OMPT) listens, and the data that it may keep with threads, regions and tasks. Without a tool the rest
// of omp/ pays only for on(): one load, and a branch that is never taken.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp/ompt/omp-tools.h"

namespace heddle::omp {
struct task;
}

namespace heddle::omp::ompt {

enum class attached : std::uint8_t { no, unknown, yes };

// Written when the first event looks for a tool, and when the tool goes.
inline constinit std::atomic<attached> tool_is{attached::unknown};

// Written before the tool hears of any event, and never reset.
inline constinit std::atomic<bool> tool_was_there{false};
// relaxed: the caller has looked for a tool before, or has got its region from a thread that has
inline bool was_there() noexcept { return tool_was_there.load(std::memory_order_relaxed); }

// Looks for a tool, once in a process. Returns whether one listens.
bool find_out() noexcept;

// False: nobody listens. Else ask on().
inline bool may_be_on() noexcept { return tool_is.load(std::memory_order_relaxed) != attached::no; }  // as in on

// A tool listens, or a trace, or the policy places tasks.
inline bool on() noexcept {
  // relaxed: find_out has the lock that publishes the tool; its departure may be seen late
  if (tool_is.load(std::memory_order_relaxed) == attached::no) [[likely]]
    return false;
  return find_out();
}

// Written only where a tool listens; without one the contents are undefined.
struct task_record {
  ompt_data_t data;
  ompt_frame_t frame;
};
static_assert(sizeof(task_record) == 32);

struct region_record {
  ompt_data_t data{};
  const void* code{nullptr};  // the place where the leader encountered it
  int flags{0};
  // The number of members that have arrived at the region's end and have not told of it yet. The leader's next region
  // waits for them.
  std::atomic<int> leaving{0};
};
// Whether the members of the region begin the teams of a league. For tools its tasks are the teams' initial tasks.
inline bool is_league(const region_record& it) noexcept { return (it.flags & ompt_parallel_league) != 0; }

// A task that a thread runs on top of another task.
struct running_task {
  const task* it;
  task* under;
  running_task* next;
};

struct thread_record {
  ompt_data_t data{};
  int state{ompt_state_work_serial};
  ompt_wait_id_t waits_for{0};
  running_task* on_top{nullptr};
  bool yields{false};         // in a taskyield, to which the next change of tasks belongs
  bool in_gnu_single{false};  // whether it is in a single construct, whose end the GNU ABI does not tell
  const void* single_code{nullptr};
};

}  // namespace heddle::omp::ompt
