// Events of threads, regions and their implicit tasks. All functions are called only where a tool listens.
#pragma once

#include "omp/ompt/state.hpp"

namespace heddle::omp {
class thread;
struct team;
struct region_body;
struct region_options;
}  // namespace heddle::omp

namespace heddle::omp::ompt {

// For a thread that is not the runtime's own, with its initial task.
void initial_thread_begins(thread& self);
void initial_thread_ends(thread& self);
void member_begins(thread& self);
void member_ends(thread& self);

// The leader calls these before and after all else that makes a region of its team.
void prepare_region(team& t) noexcept;  // waits until members have told of the last region's end
void region_begins(thread& self, team& t, const region_options& how, unsigned requested);
void region_ends(thread& self, team& t);  // called when the leader is back in its own task

// Like heddle::omp::run_region, with the frame of the task that encounters the region.
void run_region(thread& self, const region_options& how, const region_body& body);

// The events of a league on the host, for as long as its teams run.
class league_events {
 public:
  league_events(thread& self, unsigned teams, const void* code);
  league_events(const league_events&) = delete;
  ~league_events();

 private:
  thread& self_;
  bool told_;
  ompt_data_t data_{};
  const void* code_;
};

// The events of a team of a league whose teams run in a region that was made for them (region_options::league). The
// task of the region's member is the team's initial task meanwhile.
class league_team_events {
 public:
  league_team_events(thread& self, int number, int teams);
  league_team_events(const league_team_events&) = delete;
  ~league_team_events();

 private:
  thread& self_;
  bool told_;
  unsigned number_;
};

// Called by a member of a region that a thread has encountered, or for the initial task of a league's team or of a
// target region.
void implicit_task_begins(thread& self);
// join_begins: the member's part is over and it comes to the barrier at the end. join_ends: that barrier is over, and
// with it the task.
void join_begins(thread& self);
void join_ends(thread& self);

}  // namespace heddle::omp::ompt
