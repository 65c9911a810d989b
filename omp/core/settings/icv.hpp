// Internal control variables (OpenMP 5.1, section 2.4): those of a data environment here, those of the process in
// environment.hpp. Each task has some, and begins with those of the task that made it (table 2.3). It shares its
// maker's variables until it sets one of them itself.
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

// The values of omp_sched_t, where the modifier is a separate bit, too.
enum class schedule_kind : std::uint8_t {
  of_static = 1,
  of_dynamic = 2,
  of_guided = 3,
  automatic = 4,
  trapezoidal = 101,  // LLVM's; it runs as guided
};

struct schedule {
  schedule_kind kind{schedule_kind::of_static};
  bool monotonic{false};
  int chunk{0};  // 0 if none was given

  bool operator==(const schedule&) const = default;
};

// How the members of regions inside regions get workers (team_gang.hpp). automatic: as gangs if they are not preempted.
enum class team_scheduling : std::uint8_t { automatic, gang, stealing };

// The values of omp_proc_bind_t.
enum class bind_kind : std::int8_t { no = 0, yes = 1, primary = 2, close = 3, spread = 4 };

// place-partition-var, of a whole team. A member's own place and partition follow from these and its number
// (places.hpp). Places are numbered as in omp_get_place_num().
struct placement {
  int first{0};                   // the partition of the thread that encountered the region
  int count{0};                   // 0 if threads are not bound
  int parent{0};                  // that thread's place
  bind_kind bind{bind_kind::no};  // how the members lie in it

  bool operator==(const placement&) const = default;
};

struct control_variables {
  // The first element of nthreads-var: for a region that this task encounters.
  int threads{1};
  int max_active_levels{1};                           // max-active-levels-var
  int thread_limit{std::numeric_limits<int>::max()};  // thread-limit-var
  int teams{0};                                       // nteams-var; 0 means any number
  int teams_thread_limit{0};                          // teams-thread-limit-var; 0 means none
  int default_device{0};                              // default-device-var
  std::uint16_t threads_next{1};                      // index of nthreads-var's second element in its list
  std::uint16_t bind_next{1};                         // the same of bind-var
  bool dynamic{false};                                // dyn-var
  bind_kind bind{bind_kind::no};                      // bind-var, its first element
  // heddle's own: HEDDLE_OMP_TEAMS, ompx_set_gang_sched
  team_scheduling teams_are{team_scheduling::automatic};
  schedule run_schedule{};  // run-sched-var: for loops with schedule(runtime)
  placement places{};
  std::uintptr_t allocator{1};  // def-allocator-var: omp_default_mem_alloc
  // The list from which nthreads-var comes; null for the environment's.
  const std::vector<int>* threads_list{nullptr};

  bool operator==(const control_variables&) const = default;
};

// The variables with which an initial thread's implicit task begins, from the environment.
const control_variables& initial_variables() noexcept;

// The variables with which the implicit tasks of a region begin that `self` encounters: its task's variables, with the
// next element of each list, and with the team's places.
control_variables variables_of_region(const thread& self, const region_options& how) noexcept;
// The same from the variables of the encountering task, its number in its team and that team's size. `clause` is the
// proc_bind clause's omp_proc_bind_t, -1 without a clause.
control_variables inherited(const control_variables& outer, unsigned number, unsigned outer_size, int clause) noexcept;

// The list of a num_threads clause; the same object for the same numbers. It exists for ever, as do regions that have
// it.
const std::vector<int>& kept_list(std::span<const int> numbers);

// Called when a task ends, or before it begins anew. Releases a copy that own_variables() has made.
void drop_own_variables(task& of) noexcept;

// Reads schedule(kind, chunk) in the form of omp_set_schedule and omp_get_schedule. Returns false if there is no such
// kind.
bool to_schedule(int kind, int chunk, schedule& result) noexcept;
int kind_of(const schedule& s) noexcept;

}  // namespace heddle::omp
