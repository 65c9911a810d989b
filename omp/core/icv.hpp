// Internal control variables (OpenMP 5.1, section 2.4): those of a data environment here, those of the process in
// environment.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::omp {

// omp_sched_t; the modifier is a bit of its own there, too.
enum class schedule_kind : std::uint8_t { of_static = 1, of_dynamic = 2, of_guided = 3, automatic = 4 };

struct schedule {
  schedule_kind kind{schedule_kind::of_static};
  bool monotonic{false};
  int chunk{0};  // 0: none was given
};

// omp_proc_bind_t
enum class bind_kind : std::int8_t { no = 0, yes = 1, primary = 2, close = 3, spread = 4 };

// Of a data environment: a task's, which begins with those of the task that made it. A task shares its maker's until it
// sets one of them itself (task::own_variables).
struct control_variables {
  int threads{1};  // nthreads-var, its first element: of a region that this task encounters
  int max_active_levels{1};
  int thread_limit{0};
  int teams{0};                // nteams-var
  int teams_thread_limit{0};   // teams-thread-limit-var
  int default_device{0};
  bool dynamic{false};
  bind_kind bind{bind_kind::no};
  schedule run_schedule{};     // of loops with schedule(runtime)
  std::uintptr_t allocator{1};  // omp_allocator_handle_t: omp_default_mem_alloc
};

}  // namespace heddle::omp
