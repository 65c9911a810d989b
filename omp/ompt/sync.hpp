// The waits of threads for each other and for tasks, with their events. Entry points call these functions in place of
// the ones in core/.
#pragma once

#include "omp/core/tasks/task_group.hpp"
#include "omp/core/tasks/taskwait.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/ompt/state.hpp"

namespace heddle::omp::ompt {

bool tell_barrier(thread& self, ompt_sync_region_t kind, const void* code, bool cancellable);
void tell_taskwait(thread& self, const void* code);
void tell_group_begin(thread& self, const void* code);
void tell_group_end(thread& self, const void* code);
void tell_taskyield(thread& self);

inline bool barrier(thread& self, ompt_sync_region_t kind, const void* code, bool cancellable = false) {
  if (on()) [[unlikely]]
    return tell_barrier(self, kind, code, cancellable);
  return wait_at_barrier(self, cancellable);
}

inline void wait_for_tasks(thread& self, const void* code) {
  if (on()) [[unlikely]]
    return tell_taskwait(self, code);
  taskwait(self);
}

inline void group_begins(thread& self, const void* code) {
  if (on()) [[unlikely]]
    return tell_group_begin(self, code);
  begin_group(self);
}

inline void group_ends(thread& self, const void* code) {
  if (on()) [[unlikely]]
    return tell_group_end(self, code);
  end_group(self);
}

inline void yield(thread& self) {
  if (on()) [[unlikely]]
    return tell_taskyield(self);
  taskyield(self);
}

// Only the events, where a tool listens, of a reduction and of a flush.
void tell_reduction(thread& self, ompt_scope_endpoint_t endpoint, const void* code);
void tell_flush(thread& self, const void* code);

}  // namespace heddle::omp::ompt
