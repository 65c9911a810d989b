// The environment's settings for a process (OpenMP 5.1, chapter 6), and the control variables of which a process has
// only one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <heddle/policy_victims.hpp>

#include "omp/core/places/machine_subset.hpp"
#include "omp/core/places/places.hpp"
#include "omp/core/settings/icv.hpp"

namespace heddle::omp {

enum class wait_policy : std::uint8_t { unsaid, active, passive };
enum class offload : std::uint8_t { as_it_comes, mandatory, disabled };
enum class display : std::uint8_t { no, yes, verbose };
// When members of teams are preempted. automatic: only while one of them is ready and has no worker.
enum class preempt_members : std::uint8_t { automatic, on, off };
// KMP_LIBRARY. serial: regions have one thread; turnaround: threads wait actively.
enum class library_kind : std::uint8_t { serial = 1, turnaround = 2, throughput = 3 };

inline constexpr std::int64_t unlimited_spin = std::numeric_limits<std::int64_t>::max();

// The values of the variables, as they were written (environment.def), with their defaults.
struct environment_values {
  // nthreads-var; empty means as many as heddle has workers.
  std::vector<int> threads;
  bool dynamic{false};
  std::optional<bool> nested;
  std::optional<int> max_active_levels;
  int thread_limit{std::numeric_limits<int>::max()};
  schedule run_schedule{};
  std::vector<bind_kind> bind;               // bind-var; empty if not given
  bind_kind league_bind{bind_kind::spread};  // for the teams of a league
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
  heddle::policy::victim_rule victims{heddle::policy::victim_rule::hybrid};

  bool operator==(const environment_values&) const = default;
};

// The settings, with what follows from them.
struct environment : environment_values {
  bool operator==(const environment&) const = default;

  place_list all_places;  // empty if threads are not bound
  // The time in nanoseconds for which a waiting thread looks before it sleeps, while nothing else wants its processor;
  // 0 means that it does not look. The flag says whether the user has set it.
  std::int64_t spin{0};
  bool spin_is_said{false};
  control_variables initial;
  int processors{1};  // omp_get_num_procs()
  place usable;       // their operating system's numbers
  int workers{1};     // the number of workers that heddle has, or will have
};

// The environment of the process, read at the first call from any thread. Values that cannot be read are reported on
// standard error then. The object never changes and is never destroyed, but after change_environment another object may
// be the process's.
const environment& process_environment() noexcept;
// Gives the process another environment: a copy that `change` has altered. For kmp_set_defaults and similar functions,
// which affect regions and threads that begin later.
void change_environment(void (*change)(environment& copy, const void* argument), const void* argument);

// The settings for which teams ask.
// The time for which a waiting thread looks, while nothing else wants its processor.
std::chrono::nanoseconds spin_time() noexcept;
std::size_t stack_size() noexcept;  // bytes, for members' stacks
bool may_cancel() noexcept;
preempt_members preempting() noexcept;

// Returns the values in "NAME=VALUE" texts. A value that cannot be read leaves the default and adds a line to
// `complaints`: "NAME=VALUE: expected ...; taken as ...". For numbers the line says whether they are too small or too
// large. (Empty values count as unset.)
environment_values values_from(std::span<const char* const> texts, std::vector<std::string>* complaints,
                               environment_values presets = {});
// Reads "NAME=VALUE" lines into it, as if they had been in the environment. Reports the values that cannot be read.
void read_into(environment& e, const std::vector<std::string>& lines);
// Sets e.spin and e.spin_is_said: the time for which threads spin by these values.
void settle_spin(environment& e) noexcept;
// Returns the environment that follows from the values, on a machine with these units and that many workers of
// heddle's.
environment environment_from(environment_values values, const machine_units& machine, unsigned workers,
                             std::vector<std::string>* complaints);

// One variable of the table.
struct variable {
  const char* name;
  const char* values;  // the values that may be given, for people
  const char* text;    // its meaning
  bool is_ignored;     // accepted for compatibility with other runtimes
  bool (*read)(environment_values& into, std::string_view text);
  // In the form that read() takes; "" if not given.
  std::string (*write)(const environment_values& from);
};
std::span<const variable> variables() noexcept;

// The two forms of OMP_DISPLAY_ENV (true and verbose), which omp_display_env also prints: section 6.12.
std::string environment_text(const environment& of, bool verbose);
// The output of KMP_SETTINGS: all variables, with the given values if there are any.
std::string settings_text(const environment& of);
// The table of docs/guide/openmp_variables.md.
std::string environment_markdown();

// Whether the runtime reports requests that it could not follow: KMP_WARNINGS, kmp_set_warnings_off. On at first.
void set_warnings(bool on) noexcept;
// Prints a line on standard error, beginning with "heddle: ", unless that is off.
void say(const std::string& line) noexcept;
// The same for a variable's value. The line begins as in LLVM's runtime, because other programs look for that.
void say_of_variable(const std::string& complaint) noexcept;
// The same, once for each text, for features that are not supported.
void say_once(const std::string& line) noexcept;

}  // namespace heddle::omp
