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
#include "omp/core/teams/proxy.hpp"
#include "omp/core/teams/work_share.hpp"
#include "omp/seam.hpp"

namespace heddle::omp {

class thread;
struct region_body;  // thread.hpp

// The options that were asked for; 0 and -1 mean not given.
struct region_options {
  int threads{0};
  int bind{-1};
  bool serial{false};  // if(false)
  // Its members begin the teams of a league, so it counts as no level.
  bool league{false};
  // For a combined parallel loop of the GNU ABI: every member begins in it.
  const loop_plan* loop{nullptr};
  const void* code{nullptr};  // the return address, for tools
  bool started{false};        // the caller runs the function itself (GNU ABI), for tools
  // If not negative, this is no parallel construct, but one team of a league of league_size teams, or a target region.
  int league_number{-1};
  int league_size{1};                   // also the size for `league`
  void* data{nullptr};                  // team::data_of_code
  std::uintptr_t* reductions{nullptr};  // of tasks, for all members (GNU ABI)
};

// The implicit task of one member, on lines of its own.
struct alignas(64) implicit_task : task {
  ompt::task_record tool{};
  heddle::detail::placed_children placed{};  // what the policy knows of the member's tasks (placing.hpp)
};

struct team {
  team() = default;
  team(const team&) = delete;
  ~team();

  // --- The description of a region, written by its leader before the members begin, and read by them. Only changed
  // values are written (change), so that members which have been here before find these lines in their caches.
  unsigned size{1};
  unsigned outer_number{0};  // the number of the member that encountered the region, in the team `outer`
  team* outer{nullptr};
  task* outer_task{nullptr};  // that member's task
  int level{0};               // omp_get_level() inside
  int active_level{0};
  // omp_get_team_num(), omp_get_num_teams(): for a host teams construct.
  int league_number{0};
  int league_size{1};
  bool has_loop{false};
  bool begins_group{
      false};  // a team of a league or a target region: its thread is the initial one of a contention group
  // Whether its members run as a gang, all at once or not at all: team_gang.hpp.
  bool is_gang{false};
  // Set when a task was made in this region, or when there is something else of which the hooks of tasks must hear.
  std::atomic<bool> tasked{false};
  std::atomic<bool> cancelled{false};  // cancel parallel, in any phase
  phase_cancellations cancellations;
  std::unique_ptr<thread*[]> members;         // the first `size` of them execute the region
  std::unique_ptr<implicit_task[]> implicit;  // one a member
  void* data_of_code{nullptr};                // region_options::data
  std::uintptr_t* reduction_words{nullptr};   // region_options::reductions
  loop_plan loop;                             // if has_loop
  control_variables variables;                // the variables with which its implicit tasks begin

  // --- the leader's
  alignas(64) thread* leader{nullptr};         // for as long as the team exists
  heddle::runtime* home{nullptr};              // of its members, which are residents there
  unsigned manned{0};                          // the number of members that have a thread
  unsigned room{0};                            // the number of members for which there is room
  unsigned reserved{0};                        // threads of this region that count towards its group's limit
  team* deeper{nullptr};                       // kept for a region that the leader encounters inside this one
  heddle::detail::gang_handle* gang{nullptr};  // made when a region first is one
  unsigned gang_room{0};
  bool led_inside{false};  // the leader is in the gang
  // The proxy that takes part in place of a leader that is a kernel thread.
  std::unique_ptr<proxy> beside;
  bool is_led_for{false};  // in this region
  work_cursor saved_work;  // the constructs that the leader was in the middle of
  team** saved_kept_at{nullptr};

  // --- of the team with which a contention group begins: the threads of the group's regions that are under way,
  // without the initial thread. Counted only while the group has a thread limit.
  std::atomic<unsigned> threads_of_group{0};

  // --- all members'
  alignas(64) team_barrier barrier;       // for the region's barriers
  std::atomic<std::uint32_t> singles{0};  // the number of single constructs that a member has taken
  std::atomic<void*> copied{nullptr};     // copyprivate
  alignas(64) team_barrier joined;        // for the region's end
  alignas(64) team_tasks tasks;
  work_shares shares;

  ompt::region_record tool;

  // Called when something has changed for which some members may wait. Wakes the members that sleep. Has the fence that
  // parkers need.
  void wake_all() noexcept;
  // The last task of the team may have ended: see team_barrier::tasks_ended.
  void tasks_ended() noexcept {
    barrier.tasks_ended(*this);
    joined.tasks_ended(*this);
  }
};

// Runs body on every member of a new team, with the caller as member 0. Returns when all have ended, and all tasks of
// the region, too. docs/decisions/0012-openmp.md says how large the team is.
void run_region(thread& self, const region_options& how, region_body body);

// The same in two halves, between which the caller executes its own part.
team& begin_region(thread& self, const region_options& how, region_body body);
void end_region(thread& self);

// Begins one team of a league on the host: a region of the caller alone that counts as no level. `threads` is
// thread_limit, or 0. The caller is the thread that encountered the league, or a member of the region that was made for
// the league (region_options::league).
team& begin_league_member(thread& self, int number, int teams, int threads);

// The number of threads that a region with that clause gets here.
[[nodiscard]] unsigned threads_for(const thread& self, const region_options& how) noexcept;

// A barrier of the thread's region. Returns true if the region was cancelled (if cancellable).
bool wait_at_barrier(thread& self, bool cancellable = false);

// Ends the members of all teams that the thread keeps. Must be called outside of regions.
void dismiss_teams(thread& self);

}  // namespace heddle::omp
