// The user-level threads that are members of a team: making them, what they do from region to region, ending them.
#pragma once

namespace heddle::omp {

class thread;
struct region_body;
struct team;

// Room for n members.
void make_room(team& t, unsigned n);
// Gives the team the members that it lacks for n. Members look at each other from their first instruction on
// (team::wake_all), so all are there before the first of them begins with the region.
void recruit(team& t, unsigned n, region_body body);
// Makes the threads of those that have none yet. They begin with the region at once, so everything of it is written.
// Ends the process with a message when a thread cannot be made.
void start_recruits(team& t, unsigned n);
// Ends and joins all members but the leader.
void dismiss(team& t);
// In the child of a fork no member exists.
void forget_members() noexcept;
// The thread begins and ends its part of the team's region; between the two it runs the body.
void begin_part(thread& self, team& t, unsigned number);
void end_part(thread& self);

}  // namespace heddle::omp
