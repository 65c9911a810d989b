// What teams and barriers ask of tasks. tasks/ defines these; where it is not linked, task_hooks.cpp says that there are
// none.
#pragma once

#include <cstdint>

namespace heddle::omp {

class thread;
struct team;
struct task;

namespace tasks {

// Nothing here is called before somebody has set team::tasked in this region, but for begin and end of implicit tasks.

// Whether a look may find a task that the thread may run here; read without a lock, wrong for a moment at most. Who
// makes it true wakes those that sleep in the team's barrier (team::wake_idle).
bool may_find(thread& self) noexcept;
// Runs one task of the team that the thread may run where it waits; false: none was found.
bool run_one(thread& self);
// Whether any task of the team is still to end. Asked when all members have arrived at a barrier. Who ends the last one
// calls team_barrier::tasks_ended (team::tasks_ended) afterwards.
bool unfinished(team& t) noexcept;
// A task reduction of a work-sharing construct or a region of the GNU ABI is registered: the words of `reductions` as
// gcc lays them out; `shared` is the construct's, null for the first to come.
void begin_reductions(thread& self, std::uintptr_t* reductions, void*& shared);
void end_reductions(thread& self);

// cancel taskgroup, cancellation point taskgroup.
bool cancel_group(thread& self) noexcept;
bool group_is_cancelled(thread& self) noexcept;

}  // namespace tasks

}  // namespace heddle::omp
