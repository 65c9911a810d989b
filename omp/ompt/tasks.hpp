// Events of explicit tasks: made, run, ended, waited for. Called only where a tool listens.
#pragma once

#include <cstdint>

#include "omp/core/tasks/task.hpp"
#include "omp/ompt/state.hpp"

namespace heddle::omp {
struct depend_list;
}

namespace heddle::omp::ompt {

// The task's kind and properties, as ompt_get_task_info and task_create name them.
int flags_of_explicit(const explicit_task& it) noexcept;

// A new task of the running one; `list` null: no depend clause.
// `awaited`: the running task goes on when the new one has ended, because the program says so.
void task_made(thread& self, explicit_task& it, bool undeferred, bool awaited, const depend_list* list,
               const void* code);
// The same, and makes it known or runs it, as heddle::omp::submit does.
void submit(thread& self, explicit_task& it, const depend_list* list, const void* code);
// Runs, where it is made, a task for which its parent waits, as heddle::omp::run_included does.
void run_undeferred(thread& self, explicit_task& it, const depend_list* list, const void* code);
// Like heddle::omp::run_task.
void run_task(thread& self, member_tasks& mine, explicit_task& it);

// The parent of a task goes over to it, and waits for it where it is made; and back.
void included_begins(thread& self, explicit_task& it);
// True: it was told that the task's event is still to come.
bool included_ends(thread& self, explicit_task& it);

// Called when an event is fulfilled, before or after the body's end.
void fulfilled_early(ompt_data_t of);
void fulfilled_late(explicit_task& it);

// Like heddle::omp::wait_for_predecessors. For a tool it is a task that does nothing.
void wait_for_predecessors(thread& self, const depend_list& list, const void* code);
// Tells that a task waits for another, which has the data `before`.
void found_predecessor(ompt_data_t before, explicit_task& after);

// For iterations of doacross loops: one position in a loop, `count` values; the source of a dependence or its sink.
void doacross(thread& self, const std::uint64_t* values, unsigned count, bool source);

// Tells of a chunk of a taskloop; called by the task that has it.
void taskloop_chunk(thread& self, std::uint64_t first, std::uint64_t count);

// Tell of a cancel construct or a cancellation point of the running task; and of a task that does not begin.
void cancelled(thread& self, int what, const void* code);
void discarded(explicit_task& it);

}  // namespace heddle::omp::ompt
