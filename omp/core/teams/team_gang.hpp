// Regions whose members run all at once or not yet, as a gang of heddle's (src/worker/gangs/gangs.md): which members
// are in the gang, and when it begins and ends. [region_gang:1] to [region_gang:6] of README.md.
#pragma once

#include "omp/core/teams/team.hpp"

namespace heddle::omp {

// Whether the region that t is about to run, of more than one member, should be a gang. The caller leads it.
[[nodiscard]] bool shall_be_gang(const thread& self, const team& t, const region_options& how) noexcept;
// Whether the process's nested regions are gangs at all (HEDDLE_OMP_TEAMS).
[[nodiscard]] bool teams_are_gangs() noexcept;
// A member that is made for the team may be in a gang, of that region or of one inside.
[[nodiscard]] bool may_be_in_gangs(const team& t) noexcept;

// Called before the members hear of the region.
void begin_gang(team& t);
// Wakes member i into the gang. Its go flag must be raised, and a fence executed since.
void wake_into_gang(team& t, unsigned i) noexcept;
// Called by member `number`. Returns when all are there and have their workers.
void enter_gang(thread& self, team& t, unsigned number) noexcept;
// Called by the leader, at the end of its part.
void leave_gang(team& t) noexcept;

}  // namespace heddle::omp
