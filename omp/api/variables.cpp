// Control variables: OpenMP 5.1, sections 3.2 and 3.4 to 3.6. A function that sets a variable of a data environment
// gives the calling task a copy of its own.
#include <algorithm>
#include <limits>

#include "omp/api/api.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/standard_error.hpp"
#include "omp/core/teams/team_gang.hpp"
#include "omp/core/teams/thread.hpp"

namespace {

using namespace heddle::omp;

const control_variables& mine() noexcept { return *thread::current().running->variables; }

// Nothing is copied if nothing changes, because libraries set the present value again around each call.
template <class T>
void set(T control_variables::* which, T value) {
  task& running = *thread::current().running;
  if (running.variables->*which == value) return;
  running.own_variables().*which = value;
}

}  // namespace

extern "C" {

void omp_set_num_threads(int threads) { set(&control_variables::threads, std::max(threads, 1)); }
int omp_get_max_threads() { return mine().threads; }

void omp_set_dynamic(int on) { set(&control_variables::dynamic, on != 0); }
int omp_get_dynamic() { return mine().dynamic ? 1 : 0; }

void omp_set_nested(int on) {
  set(&control_variables::max_active_levels, on != 0 ? std::numeric_limits<int>::max() : 1);
}
int omp_get_nested() { return mine().max_active_levels > std::max(1, omp_get_active_level()) ? 1 : 0; }
void omp_set_max_active_levels(int levels) {
  if (levels >= 0) set(&control_variables::max_active_levels, levels);
}
int omp_get_max_active_levels() { return mine().max_active_levels; }
int omp_get_supported_active_levels() { return std::numeric_limits<int>::max(); }
int omp_get_thread_limit() { return mine().thread_limit; }

void omp_set_schedule(int kind, int chunk) {
  schedule s = mine().run_schedule;
  if (to_schedule(kind, chunk, s)) set(&control_variables::run_schedule, s);
}
void omp_get_schedule(int* kind, int* chunk) {
  const schedule s = mine().run_schedule;
  *kind = kind_of(s);
  *chunk = s.chunk;
}

void omp_set_num_teams(int teams) { set(&control_variables::teams, std::max(teams, 0)); }
int omp_get_max_teams() { return mine().teams; }
void omp_set_teams_thread_limit(int threads) { set(&control_variables::teams_thread_limit, std::max(threads, 0)); }
int omp_get_teams_thread_limit() { return mine().teams_thread_limit; }

void ompx_set_gang_sched() {
  ask_for_gangs();
  set(&control_variables::teams_are, team_scheduling::gang);
}
void ompx_reset_gang_sched() { set(&control_variables::teams_are, team_scheduling::stealing); }

int omp_get_max_task_priority() { return process_environment().max_task_priority; }
int omp_get_cancellation() { return process_environment().cancellation ? 1 : 0; }
void omp_display_env(int verbose) { write_text(environment_text(process_environment(), verbose != 0)); }

void omp_set_default_device(int device) {
  if (device >= 0) set(&control_variables::default_device, device);
}
int omp_get_default_device() { return mine().default_device; }

void omp_set_default_allocator(std::uintptr_t allocator) { set(&control_variables::allocator, allocator); }
std::uintptr_t omp_get_default_allocator() { return mine().allocator; }

}  // extern "C"
