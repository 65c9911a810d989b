// A team: the threads that execute a parallel region. It belongs to the thread that leads it, and is kept with its
// members for the leader's next region of the same depth.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "omp/core/settings/icv.hpp"
#include "omp/core/tasks/task.hpp"
#include "omp/core/tasks/task_queue.hpp"
#include "omp/core/teams/barrier.hpp"
#include "omp/core/teams/cancel.hpp"
#include "omp/core/teams/stand_in.hpp"
#include "omp/core/teams/work_share.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {

class thread;
struct region_body;  // thread.hpp

// What was asked for; 0 and -1: not said.
struct region_options {
  int threads{0};
  int bind{-1};
  bool serial{false};              // if(false)
  bool league{false};              // its members begin the teams of a league: it counts as no level
  const loop_plan* loop{nullptr};  // of a combined parallel loop of the GNU ABI: every member begins in it
  const void* code{nullptr};       // return address, for tools
  bool started{false};             // the caller runs the function itself (GNU ABI), for tools
  // Not negative: no parallel construct, but one team of a league of so many, or a target region.
  int league_number{-1};
  int league_size{1};                   // of `league`, too
  void* data{nullptr};                  // team::data_of_code
  std::uintptr_t* reductions{nullptr};  // of tasks, for all members (GNU ABI)
};

// Of one member; on lines of its own.
struct alignas(64) implicit_task : task {
  ompt::task_record tool{};
};

struct team {
  team() = default;
  team(const team&) = delete;
  ~team();

  // --- what a region is; written by its leader before the members begin, and read by them. Only what changes is
  // written (change), so that members which have been here before find these lines in their caches.
  unsigned size{1};
  unsigned outer_number{0};  // the number of the member that encountered the region, in the team `outer`
  team* outer{nullptr};
  task* outer_task{nullptr};  // that member's task
  int level{0};               // omp_get_level() inside
  int active_level{0};
  int league_number{0};  // omp_get_team_num(), omp_get_num_teams(): of a host teams construct
  int league_size{1};
  bool has_loop{false};
  bool begins_group{
      false};           // a team of a league or a target region: its thread is the initial one of a contention group
  bool is_gang{false};  // its members run all at once, or not yet: team_gang.hpp
  // Some task was made in this region, or there is something else that the hooks of tasks want to hear of.
  std::atomic<bool> tasked{false};
  std::atomic<bool> cancelled{false};  // cancel parallel, in any phase
  phase_cancellations cancellations;
  std::unique_ptr<thread*[]> members;         // of which the first `size` execute the region
  std::unique_ptr<implicit_task[]> implicit;  // one a member
  void* data_of_code{nullptr};                // region_options::data
  std::uintptr_t* reduction_words{nullptr};   // region_options::reductions
  loop_plan loop;                             // if has_loop
  control_variables variables;                // that its implicit tasks begin with

  // --- the leader's
  alignas(64) thread* leader{nullptr};         // for as long as the team exists
  unsigned manned{0};                          // members that have a thread
  unsigned room{0};                            // for members
  unsigned reserved{0};                        // threads of this region that count towards its group's limit
  team* deeper{nullptr};                       // kept for a region that the leader encounters inside this one
  heddle::detail::gang_handle* gang{nullptr};  // made when a region first is one
  unsigned gang_room{0};
  bool led_inside{false};            // the leader is in the gang
  std::unique_ptr<stand_in> beside;  // where it is a kernel thread and is led for: in its place
  bool is_led_for{false};            // in this region
  work_cursor saved_work;            // what the leader was in the middle of
  team** saved_place{nullptr};

  // --- of the team with which a contention group begins: the threads of the group's regions that are under way,
  // without the initial thread. Counted only while the group has a thread limit.
  std::atomic<unsigned> threads_of_group{0};

  // --- all members'
  alignas(64) team_barrier barrier;       // of the region's barriers
  std::atomic<std::uint32_t> singles{0};  // single constructs that somebody has taken
  std::atomic<void*> copied{nullptr};     // copyprivate
  alignas(64) team_barrier joined;        // of its end
  alignas(64) team_tasks tasks;
  work_shares shares;

  ompt::region_record tool;

  // Something has changed that some members may wait for: wakes those that sleep. Has the fence that parking wants.
  void wake_all() noexcept;
  // The last task of the team may have ended: see team_barrier::tasks_ended.
  void tasks_ended() noexcept {
    barrier.tasks_ended(*this);
    joined.tasks_ended(*this);
  }
};

// Runs body on every member of a new team, the caller being member 0; returns when all have ended, and all tasks of the
// region too. How large the team is: docs/decisions/0012-openmp.md.
void run_region(thread& self, const region_options& how, region_body body);

// The same in halves: the caller executes its own part in between.
team& begin_region(thread& self, const region_options& how, region_body body);
void end_region(thread& self);

// One team of a league on the host: a region of the caller alone that counts as no level. threads: thread_limit, or 0.
// The caller is the thread that encountered the league, or a member of the region that it made for it
// (region_options::league).
team& begin_league_member(thread& self, int number, int teams, int threads);

// How many threads a region with that clause gets here.
[[nodiscard]] unsigned threads_for(const thread& self, const region_options& how) noexcept;

// A barrier of the region that the thread is in. True: the region was cancelled (if cancellable).
bool wait_at_barrier(thread& self, bool cancellable = false);

// Ends the members of all teams that the thread keeps. Outside of regions.
void dismiss_teams(thread& self);

}  // namespace heddle::omp
