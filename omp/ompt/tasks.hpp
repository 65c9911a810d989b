// Events of explicit tasks: made, run, ended, waited for. Called where a tool listens alone.
#pragma once

#include <cstdint>

#include "omp/core/tasks/task.hpp"
#include "omp/ompt/state.hpp"

namespace heddle::omp {
struct depend_list;
}

namespace heddle::omp::ompt {

// Kind and properties, as ompt_get_task_info and task_create name them.
int flags_of_explicit(const explicit_task& it) noexcept;

// A new task of the running one; `list` null: no depend clause.
// `awaited`: the running task goes on when the new one has ended, because the program says so.
void task_made(thread& self, explicit_task& it, bool undeferred, bool awaited, const depend_list* list,
               const void* code);
// The same, and makes it known or runs it, as heddle::omp::submit does.
void submit(thread& self, explicit_task& it, const depend_list* list, const void* code);
// Runs a task that its parent waits for where it is made, as heddle::omp::run_included does.
void run_undeferred(thread& self, explicit_task& it, const depend_list* list, const void* code);
// As heddle::omp::run_task.
void run_task(thread& self, member_tasks& mine, explicit_task& it);

// The parent of a task goes over to it, and waits for it where it is made; and back.
void included_begins(thread& self, explicit_task& it);
// True: it was told that the task's event is still to come.
bool included_ends(thread& self, explicit_task& it);

// An event is fulfilled, before or after the body's end.
void fulfilled_early(ompt_data_t of);
void fulfilled_late(explicit_task& it);

// As heddle::omp::wait_for_predecessors: to a tool it is a task that does nothing.
void wait_for_predecessors(thread& self, const depend_list& list, const void* code);
// One task waits for another, whose data were those.
void found_predecessor(ompt_data_t before, explicit_task& after);

// Of iterations of doacross loops: one place in a loop, `count` values; the source of a dependence or its sink.
void doacross(thread& self, const std::uint64_t* values, unsigned count, bool source);

// A chunk of a taskloop, by the task that has it.
void taskloop_chunk(thread& self, std::uint64_t first, std::uint64_t count);

// Of a cancel construct or a cancellation point of the running task; of a task that does not begin.
void cancelled(thread& self, int what, const void* code);
void discarded(explicit_task& it);

}  // namespace heddle::omp::ompt
