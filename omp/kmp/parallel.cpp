// Regions of the LLVM ABI.
#include <algorithm>
#include <cstdarg>
#include <memory>

#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/kmp/ident.hpp"
#include "omp/ompt/records.hpp"
#include "omp/ompt/regions.hpp"

using namespace heddle::omp;
using kmp::ident;

namespace {

struct outlined {
  kmp::microtask code;
  int count;
  void** arguments;
};

void call_outlined(void* data, thread& self) {
  const outlined& o = *static_cast<outlined*>(data);
  std::int32_t global_number = self.global_number;
  auto number = static_cast<std::int32_t>(self.number);
  if (!ompt::on()) [[likely]] {
    kmp::call_microtask(o.code, &global_number, &number, o.count, o.arguments, nullptr);
    return;
  }
  ompt::task_record& mine = ompt::record_of(*self.running);
  const ompt::outside code(mine, nullptr);
  kmp::call_microtask(o.code, &global_number, &number, o.count, o.arguments, &mine.frame.exit_frame.ptr);
}

// The addresses that a construct hands on, in the caller's frame.
class argument_list {
 public:
  argument_list(int count, std::va_list from) {
    if (count > few) many_ = std::make_unique<void*[]>(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) data()[i] = va_arg(from, void*);
  }
  void** data() noexcept { return many_ != nullptr ? many_.get() : here_; }

 private:
  static constexpr int few = 32;
  void* here_[few];
  std::unique_ptr<void*[]> many_;
};

region_options clauses_of(const thread& self) noexcept {
  region_options how;
  how.threads = self.next.threads;
  how.bind = self.next.bind;
  return how;
}

struct league {
  outlined* what;
  int teams;
  int limit;  // of threads in a team; 0 means none
  // For each team's regions, unless the program has given a number; 0 means the usual number.
  int threads;
};

// Runs some of the teams, one after the other.
void run_teams(void* data, thread& self) {
  const league& l = *static_cast<league*>(data);
  const block mine = even_part(static_cast<std::uint64_t>(l.teams), self.number, self.in->size);
  for (std::uint64_t i = mine.first; i < mine.first + mine.count; ++i) {
    const ompt::league_team_events told(self, static_cast<int>(i), l.teams);
    team& t = begin_league_member(self, static_cast<int>(i), l.teams, l.limit);
    if (l.threads > 0) t.variables.threads = std::min(t.variables.threads, l.threads);
    call_outlined(l.what, self);
    end_region(self);
  }
}

// A league on the host. As many of its teams run at a time as there are workers, because no construct lets one of them
// wait for another.
void fork_league(int count, kmp::microtask code, void** arguments, const void* caller) {
  thread& self = thread::current();
  const control_variables& v = *self.running->variables;
  const environment& e = process_environment();
  const int asked = self.next.teams > 0 ? self.next.teams : v.teams;
  outlined o{code, count, arguments};
  league l{&o, std::max(asked, 1), self.next.teams_threads > 0 ? self.next.teams_threads : v.teams_thread_limit, 0};
  region_options how;
  how.code = caller;
  how.league = true;
  how.league_size = l.teams;
  how.threads = std::min(l.teams, e.workers);
  if (how.threads > 1 && e.threads.empty()) l.threads = std::max(e.workers / how.threads, 1);
  run_region(self, how, {run_teams, &l});
}

}  // namespace

HEDDLE_OMP_ENTRY void __kmpc_fork_call(ident*, std::int32_t count, kmp::microtask code, ...) {
  std::va_list from;
  va_start(from, code);
  argument_list arguments(count, from);
  va_end(from);
  thread& self = thread::current();
  region_options how = clauses_of(self);
  how.code = __builtin_return_address(0);
  outlined o{code, count, arguments.data()};
  run_region(self, how, {call_outlined, &o});
}

HEDDLE_OMP_ENTRY void __kmpc_fork_call_if(ident*, std::int32_t count, kmp::microtask code, std::int32_t condition,
                                          void* arguments) {
  thread& self = thread::current();
  region_options how = clauses_of(self);
  how.serial = condition == 0;
  how.code = __builtin_return_address(0);
  void* list[1] = {arguments};
  outlined o{code, count > 0 && arguments != nullptr ? 1 : 0, list};
  run_region(self, how, {call_outlined, &o});
}

HEDDLE_OMP_ENTRY void __kmpc_serialized_parallel(ident*, std::int32_t) {
  region_options how;
  how.serial = true;
  how.code = __builtin_return_address(0);
  thread& self = thread::current();
  begin_region(self, how, {nullptr, nullptr});
  // The caller's own frame is that of the region's code.
  if (ompt::on()) [[unlikely]]
    ompt::callers_frame(__builtin_frame_address(0)).set(ompt::record_of(*self.running));
}

HEDDLE_OMP_ENTRY void __kmpc_end_serialized_parallel(ident*, std::int32_t) { end_region(thread::current()); }

HEDDLE_OMP_ENTRY void __kmpc_push_num_threads(ident*, std::int32_t, std::int32_t threads) {
  thread::current().next.threads = threads;
}

HEDDLE_OMP_ENTRY void __kmpc_push_num_threads_strict(ident*, std::int32_t, std::int32_t threads, int, const char*) {
  thread::current().next.threads = threads;
}

HEDDLE_OMP_ENTRY void __kmpc_push_proc_bind(ident*, std::int32_t, int bind) { thread::current().next.bind = bind; }

HEDDLE_OMP_ENTRY void __kmpc_push_num_teams(ident*, std::int32_t, std::int32_t teams, std::int32_t threads) {
  thread& self = thread::current();
  self.next.teams = teams;
  self.next.teams_threads = threads;
}

HEDDLE_OMP_ENTRY void __kmpc_push_num_teams_51(ident*, std::int32_t, std::int32_t at_least, std::int32_t at_most,
                                               std::int32_t threads) {
  thread& self = thread::current();
  self.next.teams = at_most > 0 ? at_most : at_least;
  self.next.teams_threads = threads;
}

// The thread_limit of a target construct, which its compiler puts into a task of its own.
HEDDLE_OMP_ENTRY void __kmpc_set_thread_limit(ident*, std::int32_t, std::int32_t threads) {
  if (threads > 0) thread::current().running->own_variables().thread_limit = threads;
}

HEDDLE_OMP_ENTRY void __kmpc_fork_teams(ident*, std::int32_t count, kmp::microtask code, ...) {
  std::va_list from;
  va_start(from, code);
  argument_list arguments(count, from);
  va_end(from);
  fork_league(count, code, arguments.data(), __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_global_thread_num(ident*) { return thread::current().global_number; }
HEDDLE_OMP_ENTRY std::int32_t __kmpc_global_num_threads(ident*) {
  int live = 0;
  while (thread::of(live) != nullptr) ++live;
  return live;
}
HEDDLE_OMP_ENTRY std::int32_t __kmpc_bound_thread_num(ident*) {
  return static_cast<std::int32_t>(thread::current().number);
}
HEDDLE_OMP_ENTRY std::int32_t __kmpc_bound_num_threads(ident*) {
  return static_cast<std::int32_t>(thread::current().in->size);
}
HEDDLE_OMP_ENTRY std::int32_t __kmpc_in_parallel(ident*) { return thread::current().in->active_level > 0 ? 1 : 0; }
HEDDLE_OMP_ENTRY std::int32_t __kmpc_ok_to_fork(ident*) { return 1; }
HEDDLE_OMP_ENTRY void __kmpc_begin(ident*, std::int32_t) {}
HEDDLE_OMP_ENTRY void __kmpc_end(ident*) {}
