// The position of a thread: OpenMP 5.1, sections 3.2 (threads), 3.4 (teams) and 3.6 (tasks).
#include "omp/api/api.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

using heddle::omp::team;
using heddle::omp::thread;

namespace {

struct ancestor {
  const team* in;
  unsigned number;
};

// The ancestor at that level, which may be the thread itself; `in` is null if there is none.
ancestor ancestor_at(int level) noexcept {
  const thread& self = thread::current();
  ancestor a{self.in, self.number};
  if (level < 0 || level > self.in->level) return {nullptr, 0};
  while (a.in->level > level) {
    a.number = a.in->outer_number;
    a.in = a.in->outer;
  }
  return a;
}

}  // namespace

extern "C" {

int omp_get_num_threads() { return static_cast<int>(thread::current().in->size); }
int omp_get_thread_num() { return static_cast<int>(thread::current().number); }
int omp_get_num_procs() { return heddle::omp::process_environment().processors; }
int omp_in_parallel() { return thread::current().in->active_level > 0 ? 1 : 0; }
int omp_in_final() { return thread::current().running->is_final ? 1 : 0; }
int omp_in_explicit_task() { return thread::current().running->is_explicit ? 1 : 0; }
int omp_get_level() { return thread::current().in->level; }
int omp_get_active_level() { return thread::current().in->active_level; }

int omp_get_ancestor_thread_num(int level) {
  const ancestor a = ancestor_at(level);
  return a.in == nullptr ? -1 : static_cast<int>(a.number);
}

int omp_get_team_size(int level) {
  const ancestor a = ancestor_at(level);
  return a.in == nullptr ? -1 : static_cast<int>(a.in->size);
}

int omp_get_num_teams() { return thread::current().in->league_size; }
int omp_get_team_num() { return thread::current().in->league_number; }

}  // extern "C"
