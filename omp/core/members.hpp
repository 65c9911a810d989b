// The user-level threads that are members of a team: making them, what they do from region to region, ending them.
#pragma once

namespace heddle::omp {

class thread;
struct region_body;
struct team;

// Room for n members.
void make_room(team& t, unsigned n);
// Makes the members that the team lacks for n. They begin with the region at once, so everything of it is written. Ends
// the process with a message when a thread cannot be made.
void recruit(team& t, unsigned n, region_body body);
// Ends and joins all members but the leader.
void dismiss(team& t);
// The thread begins and ends its part of the team's region; between the two it runs the body.
void begin_part(thread& self, team& t, unsigned number);
void end_part(thread& self);

}  // namespace heddle::omp
