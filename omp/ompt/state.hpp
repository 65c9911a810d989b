// Whether a tool (OMPT) listens, and what it may keep with threads, regions and tasks. All that the rest of omp/ pays
// where no tool is there is on(): one load, and a branch that is never taken.
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

// Written before the tool hears of anything, and never taken back.
inline constinit std::atomic<bool> tool_was_there{false};
// Relaxed: who asks has looked for a tool before, or has got its region from who has.
inline bool was_there() noexcept { return tool_was_there.load(std::memory_order_relaxed); }

// Looks for a tool, once in a process; what came of it.
bool find_out() noexcept;

// False: nobody listens. Else ask on().
inline bool may_be_on() noexcept { return tool_is.load(std::memory_order_relaxed) != attached::no; }  // as in on

// A tool listens, or a trace, or the policy places tasks.
inline bool on() noexcept {
  // Relaxed: find_out has the lock that publishes the tool; that it goes may be seen late.
  if (tool_is.load(std::memory_order_relaxed) == attached::no) [[likely]]
    return false;
  return find_out();
}

// Written where a tool is there alone; without one they hold anything.
struct task_record {
  ompt_data_t data;
  ompt_frame_t frame;
};
static_assert(sizeof(task_record) == 32);

struct region_record {
  ompt_data_t data{};
  const void* code{nullptr};  // where the leader encountered it
  int flags{0};
  // Members that have arrived at the region's end and have not told of it yet: the leader's next region waits.
  std::atomic<int> leaving{0};
};
// Of a region whose members begin the teams of a league: to tools its tasks are the initial ones of these teams.
inline bool is_league(const region_record& it) noexcept { return (it.flags & ompt_parallel_league) != 0; }

// A task that a thread runs on top of another one.
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
  bool yields{false};         // in a taskyield: the next change of tasks is that one's
  bool in_gnu_single{false};  // whose end the GNU ABI does not tell of
  const void* single_code{nullptr};
};

}  // namespace heddle::omp::ompt
