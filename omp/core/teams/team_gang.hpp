// Regions whose members run all at once or not yet, as a gang of heddle's (src/worker/gangs/gangs.md): who is in it,
// when it begins and ends. [region_gang:1] to [region_gang:6] of README.md.
#pragma once

#include "omp/core/teams/team.hpp"

namespace heddle::omp {

// The region that t is about to be, of more than one member, shall be a gang. The caller leads it.
[[nodiscard]] bool shall_be_gang(const thread& self, const team& t, const region_options& how) noexcept;
// Whether the process's nested regions are gangs at all (HEDDLE_OMP_TEAMS).
[[nodiscard]] bool teams_are_gangs() noexcept;
// A member that is made for the team may be in a gang, of that region or of one inside.
[[nodiscard]] bool may_be_in_gangs(const team& t) noexcept;

// Before the members hear of it.
void begin_gang(team& t);
// Member i's go flag is raised, and a fence was executed since: wakes it, in the gang.
void wake_into_gang(team& t, unsigned i) noexcept;
// The caller, which is member `number`. Returns when all are there and have their workers.
void enter_gang(thread& self, team& t, unsigned number) noexcept;
// The leader, at the end of its part.
void leave_gang(team& t) noexcept;

}  // namespace heddle::omp
