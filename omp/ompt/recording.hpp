// The trace of a run as a listener beside the tool: OpenMP's regions, tasks and waits, for `heddle report` and
// `heddle dag`. While a runtime records, events are told as for a tool (`on()` is true), and the functions here write
// them. Without a trace and without a tool this costs nothing beyond the test of `on()`.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp/seam.hpp"

namespace heddle::omp {
class thread;
struct depend_list;
struct explicit_task;
struct task_group;
struct team;
}  // namespace heddle::omp

namespace heddle::omp::recording {

// Written once, before `on()` of omp/ompt/state.hpp is true for the first time.
inline constinit std::atomic<bool> is_on{false};
// Relaxed: the caller has found that somebody listens, which find_out publishes.
inline bool on() noexcept { return is_on.load(std::memory_order_relaxed); }

// Returns whether the process records a trace. If so it makes the process's runtime, which owns the trace.
bool begin() noexcept;

// A part of each OpenMP thread: its lane, if it is a kernel thread, and the place of its last event, for thieves.
struct thread_record {
  heddle::detail::trace_lane* lane{nullptr};
  bool has_lane{false};  // `lane` was asked for
  std::atomic<unsigned> place{heddle::detail::no_lane};
};

// The kinds of waits and the flags of tasks, as src/trace/events.def names them.
enum class wait : std::uint32_t { children, group, barrier, end_of_region, predecessors, led_region };
namespace task_flags {
inline constexpr std::uint32_t awaited = 1;  // its maker goes on when it has ended
inline constexpr std::uint32_t untied = 2;
inline constexpr std::uint32_t is_final = 4;
inline constexpr std::uint32_t only_waits = 8;  // a taskwait with a depend clause
}  // namespace task_flags

// Each does nothing unless the process records.
void region(thread& self, const team& t, const void* code);
void member_begins(thread& self, const team& t, const void* code);
void member_ends(thread& self, const team& t);
void task_made(thread& self, const void* id, std::uint32_t flags, const depend_list* list, const void* code);
// Until then the place where it was made lies in the record of its frame, where ompt::task_made has put it.
void task_begins(thread& self, explicit_task& it);
void task_ends(thread& self, const explicit_task& it);
void wait_begins(thread& self, wait why, const void* object);
void wait_ends(thread& self, wait why, const void* object);
void group_begins(thread& self, const task_group* group);
void group_ends(thread& self, const task_group* group);
// The thread has taken the task out of the queue of `victim`.
void stolen(thread& self, const thread& victim, const explicit_task& it);

}  // namespace heddle::omp::recording
