// The user-level threads that are members of a team: making them, their work from region to region, ending them.
#pragma once

namespace heddle::omp {

class thread;
struct region_body;
struct team;

// Makes room for n members.
void make_room(team& t, unsigned n);
// Gives the team the members that it lacks for n. Members look at each other from their first instruction on
// (team::wake_all), so all descriptors exist before the first member begins the region.
void recruit(team& t, unsigned n, region_body body);
// Makes the threads of members that have none yet. They begin with the region at once, so all of it must have been
// written. Ends the process with a message if a thread cannot be made.
void start_recruits(team& t, unsigned n);
// Ends and joins all members but the leader.
void dismiss(team& t);
// Called in the child of a fork, where no member exists.
void forget_members() noexcept;
// Begin and end the thread's part of the team's region; between the two the thread runs the body.
void begin_part(thread& self, team& t, unsigned number);
void end_part(thread& self);

}  // namespace heddle::omp
