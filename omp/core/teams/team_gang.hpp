// Regions whose members run all at once or not yet, as a gang of heddle's (src/worker/gangs/gangs.md): which members
// are in the gang, and when it begins and ends. [region_gang:1] to [region_gang:7] of README.md.
#pragma once

#include "omp/core/teams/team.hpp"

namespace heddle::omp {

// Whether the region that t is about to run, of more than one member, should be a gang. The caller leads it.
[[nodiscard]] bool shall_be_gang(const thread& self, const team& t, const region_options& how) noexcept;
// Whether nested regions of a task with these variables may be gangs, or some task has asked for gangs by a call.
[[nodiscard]] bool gangs_may_come(const control_variables& of) noexcept;
// A member that is made for the team may be in a gang, of that region or of one inside.
[[nodiscard]] bool may_be_in_gangs(const team& t) noexcept;

// [region_gang:7]
// Called when a task asks for gangs (ompx_set_gang_sched).
void ask_for_gangs() noexcept;
// Whether a task has.
[[nodiscard]] bool gangs_are_asked_for() noexcept;
// Called by the leader of a kept team before it describes its next region. Ends its members if they can be in a gang
// from now on and were made without preemption.
void suit_members_to_gangs(const thread& self, team& t);

// Called before the members hear of the region.
void begin_gang(team& t);
// Wakes member i into the gang. Its go flag must be raised, and a fence executed since.
void wake_into_gang(team& t, unsigned i) noexcept;
// Called by member `number`. Returns when all are there and have their workers.
void enter_gang(thread& self, team& t, unsigned number) noexcept;
// Called by the leader, at the end of its part.
void leave_gang(team& t) noexcept;

}  // namespace heddle::omp
