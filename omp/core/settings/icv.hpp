// Internal control variables (OpenMP 5.1, section 2.4): those of a data environment here, those of the process in
// environment.hpp. Each task has some, and begins with those of the task that made it (table 2.3): it shares its
// maker's until it sets one of them itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace heddle::omp {

class thread;
struct region_options;
struct task;

// omp_sched_t; the modifier is a bit of its own there, too.
enum class schedule_kind : std::uint8_t {
  of_static = 1,
  of_dynamic = 2,
  of_guided = 3,
  automatic = 4,
  trapezoidal = 101,  // LLVM's; runs as guided
};

struct schedule {
  schedule_kind kind{schedule_kind::of_static};
  bool monotonic{false};
  int chunk{0};  // 0: none was given

  bool operator==(const schedule&) const = default;
};

// omp_proc_bind_t
enum class bind_kind : std::int8_t { no = 0, yes = 1, primary = 2, close = 3, spread = 4 };

// place-partition-var, of a whole team: a member's own place and partition follow from these and its number
// (places.hpp). Places are numbered as omp_get_place_num() has them.
struct placement {
  int first{0};                   // the partition of the thread that encountered the region
  int count{0};                   // 0: threads are not bound
  int parent{0};                  // that thread's place
  bind_kind bind{bind_kind::no};  // how the members lie in it

  bool operator==(const placement&) const = default;
};

struct control_variables {
  int threads{1};            // nthreads-var, its first element: of a region that this task encounters
  int max_active_levels{1};  // max-active-levels-var
  int thread_limit{std::numeric_limits<int>::max()};  // thread-limit-var
  int teams{0};                                       // nteams-var; 0: as many as one likes
  int teams_thread_limit{0};                          // teams-thread-limit-var; 0: none
  int default_device{0};                              // default-device-var
  std::uint16_t threads_next{1};                      // index of nthreads-var's second element in its list
  std::uint16_t bind_next{1};                         // the same of bind-var
  bool dynamic{false};                                // dyn-var
  bind_kind bind{bind_kind::no};                      // bind-var, its first element
  schedule run_schedule{};                            // run-sched-var: of loops with schedule(runtime)
  placement places{};
  std::uintptr_t allocator{1};                    // def-allocator-var: omp_default_mem_alloc
  const std::vector<int>* threads_list{nullptr};  // that nthreads-var comes from; null: the environment's

  bool operator==(const control_variables&) const = default;
};

// What an initial thread's implicit task begins with: of the environment.
const control_variables& initial_variables() noexcept;

// What the implicit tasks of a region begin with that `self` encounters: its task's variables, with the next element of
// those that are lists, and where the team's places are.
control_variables variables_of_region(const thread& self, const region_options& how) noexcept;
// The same from the variables of the encountering task, its number in its team and that team's size; `clause` is the
// proc_bind clause's omp_proc_bind_t, -1 without one.
control_variables inherited(const control_variables& outer, unsigned number, unsigned outer_size, int clause) noexcept;

// A list of a num_threads clause, the same object for the same numbers: it stays for ever, as regions do that have it.
const std::vector<int>& kept_list(std::span<const int> numbers);

// To be called when a task ends, or before it begins anew: gives up a copy that own_variables() has made.
void drop_own_variables(task& of) noexcept;

// schedule(kind, chunk) as omp_set_schedule takes it and omp_get_schedule gives it. False: no such kind.
bool to_schedule(int kind, int chunk, schedule& result) noexcept;
int kind_of(const schedule& s) noexcept;

}  // namespace heddle::omp
