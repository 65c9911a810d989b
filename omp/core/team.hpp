// A team: the threads that execute a parallel region.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "omp/core/barrier.hpp"
#include "omp/core/icv.hpp"
#include "omp/core/task.hpp"
#include "omp/core/work_share.hpp"

namespace heddle::omp {

class thread;

// What a region executes on each member: both ABIs' outlined functions behind one call.
struct region_body {
  void (*call)(void* data, thread& self);
  void* data;
};

// What was asked for; 0 and -1: not said.
struct region_options {
  int threads{0};
  int bind{-1};
  bool serial{false};         // if(false)
  bool cancellable{false};    // barriers of it are cancellation points (GOMP_barrier_cancel)
  const void* code{nullptr};  // return address, for tools
};

struct team {
  unsigned size{1};
  team* outer{nullptr};       // the team whose member encountered the region
  unsigned outer_number{0};   // that member's number there
  task* outer_task{nullptr};  // its task
  int level{0};               // omp_get_level() inside
  int active_level{0};
  int league_number{0};  // omp_get_team_num(), omp_get_num_teams(): of a host teams construct
  int league_size{1};
  std::unique_ptr<thread*[]> members;
  std::unique_ptr<task[]> implicit;  // one a member
  control_variables variables;       // that its implicit tasks begin with
  team_barrier barrier;
  work_shares shares;
  std::atomic<std::uint32_t> ready_tasks{0};  // queued anywhere in the team: a hint
  std::atomic<std::uint32_t> sleepers{0};     // members that sleep where they could run tasks
  std::atomic<bool> cancelled{false};         // cancel parallel
};

// Runs body on every member of a new team, the caller being member 0; returns when all have ended, and all tasks of the
// region too. How large the team is: docs/decisions/0012-openmp.md.
void run_region(thread& self, const region_options& how, region_body body);

// How many threads a region with that clause gets here.
[[nodiscard]] unsigned threads_for(const thread& self, const region_options& how) noexcept;

}  // namespace heddle::omp
