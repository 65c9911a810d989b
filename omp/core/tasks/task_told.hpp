// Tasks of both ABIs where somebody listens (a tool, or a trace), which is told the frame that calls a task's code.
#pragma once

#include "omp/core/tasks/task_run.hpp"
#include "omp/ompt/records.hpp"
#include "omp/ompt/tasks.hpp"

namespace heddle::omp {

// The body of a task that has nothing to run but stands in the graph of dependences (taskwait depend nowait).
inline void run_nothing(explicit_task&, thread&, bool) {}

template <task_body Body>
void run_told(explicit_task& it, thread& self, bool discard) {
  const ompt::outside code(self, it, __builtin_frame_address(0));
  Body(it, self, discard);
}

// Makes a task known whose body is `Body` or run_nothing, or runs it if it is not deferred. `list` is null if the task
// has no depend clause.
template <task_body Body>
[[gnu::cold, gnu::noinline]] void submit_told(thread& self, explicit_task& it, bool deferred, const depend_list* list,
                                              const void* code) {
  it.body = it.body == run_nothing ? run_told<run_nothing> : run_told<Body>;
  if (deferred) ompt::submit(self, it, list, code);
  else ompt::run_undeferred(self, it, list, code);
}

}  // namespace heddle::omp
