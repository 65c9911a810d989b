// What the environment says of a process (OpenMP 5.1, chapter 6), and the control variables that a process has but
// once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "omp/core/places/machine_subset.hpp"
#include "omp/core/places/places.hpp"
#include "omp/core/settings/icv.hpp"

namespace heddle::omp {

enum class wait_policy : std::uint8_t { unsaid, active, passive };
enum class offload : std::uint8_t { as_it_comes, mandatory, disabled };
enum class display : std::uint8_t { no, yes, verbose };
// Of members of teams; automatic: only while one of them is ready and has no worker.
enum class preempt_members : std::uint8_t { automatic, on, off };
// Whether members of nested regions run all at once (team_gang.hpp); automatic: if they are not preempted.
enum class team_scheduling : std::uint8_t { automatic, gang, stealing };
// KMP_LIBRARY: serial regions have one thread; turnaround waits actively.
enum class library_kind : std::uint8_t { serial = 1, turnaround = 2, throughput = 3 };

inline constexpr std::int64_t unlimited_spin = std::numeric_limits<std::int64_t>::max();

// The values of the variables, as they were written (environment.def), with their defaults.
struct environment_values {
  std::vector<int> threads;  // nthreads-var; empty: as many as heddle has workers
  bool dynamic{false};
  std::optional<bool> nested;
  std::optional<int> max_active_levels;
  int thread_limit{std::numeric_limits<int>::max()};
  schedule run_schedule{};
  std::vector<bind_kind> bind;               // bind-var; empty: not said
  bind_kind league_bind{bind_kind::spread};  // of the teams of a league
  place_request places;
  machine_subset hw_subset;                      // KMP_HW_SUBSET
  std::size_t stack_size{std::size_t{8} << 20};  // bytes, of a thread that the runtime makes
  wait_policy waiting{wait_policy::unsaid};
  bool cancellation{false};
  int default_device{0};
  offload target_offload{offload::as_it_comes};
  int max_task_priority{0};
  std::uintptr_t allocator{1};
  int teams{0};
  int teams_thread_limit{0};
  display display_env{display::no};
  bool display_affinity{false};
  std::string affinity_format{"OMP: pid %P tid %i thread %n bound to OS proc set {%A}"};
  bool tool{true};
  std::string tool_libraries;
  std::string tool_verbose_init{"disabled"};

  std::optional<std::int64_t> blocktime;  // nanoseconds
  std::optional<std::int64_t> spin_count;
  library_kind library{library_kind::throughput};
  int dispatch_buffers{8};
  std::string dynamic_mode;
  std::optional<bool> task_throttling;
  bool settings{false};
  bool warnings{true};
  preempt_members preempt{preempt_members::automatic};
  team_scheduling teams_are{team_scheduling::automatic};

  bool operator==(const environment_values&) const = default;
};

// What follows from them.
struct environment : environment_values {
  bool operator==(const environment&) const = default;

  place_list all_places;  // empty: threads are not bound
  // How long a waiting thread looks before it sleeps, while nothing else wants its processor, in nanoseconds; 0: not at
  // all. Whether anybody has said so.
  std::int64_t spin{0};
  bool spin_is_said{false};
  control_variables initial;
  int processors{1};  // omp_get_num_procs()
  place usable;       // their numbers
  int workers{1};     // that heddle has, or will have
};

// That of the process, read at the first call from any thread; what cannot be read is said on standard error then. It
// stays as it is and is never destroyed, but may not be the process's any more after change_environment.
const environment& process_environment() noexcept;
// Gives the process another one: a copy that `change` has altered. For kmp_set_defaults and its kin, which say what
// regions and threads will be that begin later.
void change_environment(void (*change)(environment& copy, const void* argument), const void* argument);

// Of these, what teams ask for.
std::chrono::nanoseconds spin_time() noexcept;  // of a thread that waits, while nothing else wants its processor
std::size_t stack_size() noexcept;              // bytes, of members' stacks
bool may_cancel() noexcept;
preempt_members preempting() noexcept;

// The values in "NAME=VALUE" texts. A value that cannot be read leaves the default and is a line of `complaints`:
// "NAME=VALUE: expected ...; taken as ...", which says of numbers whether they are too small or too large (empty values
// count as unset).
environment_values values_from(std::span<const char* const> texts, std::vector<std::string>* complaints,
                               environment_values presets = {});
// Reads "NAME=VALUE" lines into it, as if they had been in the environment; says which cannot be read.
void read_into(environment& e, const std::vector<std::string>& lines);
// How long threads spin by these values: sets e.spin and e.spin_is_said.
void settle_spin(environment& e) noexcept;
// What follows from them on a machine with these units and that many workers of heddle's.
environment environment_from(environment_values values, const machine_units& machine, unsigned workers,
                             std::vector<std::string>* complaints);

// One variable of the table.
struct variable {
  const char* name;
  const char* values;  // what may be given, for people
  const char* text;    // what it means
  bool is_ignored;     // accepted for other runtimes' sake
  bool (*read)(environment_values& into, std::string_view text);
  std::string (*write)(const environment_values& from);  // as read() takes it; "" when not said
};
std::span<const variable> variables() noexcept;

// The two forms of OMP_DISPLAY_ENV (true and verbose), which omp_display_env prints, too: section 6.12.
std::string environment_text(const environment& of, bool verbose);
// What KMP_SETTINGS prints: all variables, as they were given where they were.
std::string settings_text(const environment& of);
// The table of docs/guide/openmp_variables.md.
std::string environment_markdown();

// Whether the runtime says what it could not do as told: KMP_WARNINGS, kmp_set_warnings_off. On at first.
void set_warnings(bool on) noexcept;
// Says something on standard error, beginning with "heddle: ", unless that is off.
void say(const std::string& line) noexcept;
// The same of a variable's value, behind what LLVM's runtime begins such lines with, for what looks for them.
void say_of_variable(const std::string& complaint) noexcept;
// As say, once for each text: for what is not supported.
void say_once(const std::string& line) noexcept;

}  // namespace heddle::omp
