// The regions of the GNU ABI, among them those with a loop or sections, and leagues.
#include "omp/gomp/region.hpp"
#include "omp/ompt/regions.hpp"

using namespace heddle::omp;
using namespace heddle::omp::gomp;

using function = void (*)(void*);

HEDDLE_OMP_ENTRY void GOMP_parallel(function code, void* data, unsigned threads, unsigned flags) {
  run(code, data, options_of(threads, flags, __builtin_return_address(0)), nullptr);
}

HEDDLE_OMP_ENTRY void GOMP_parallel_start(function code, void* data, unsigned threads) {
  start(code, data, options_of(threads, 0, __builtin_return_address(0)), nullptr);
}

HEDDLE_OMP_ENTRY void GOMP_parallel_end() { end_region(thread::current()); }

// `data` begins with the address of the reductions' words. Returns the number of threads.
HEDDLE_OMP_ENTRY unsigned GOMP_parallel_reductions(function code, void* data, unsigned threads, unsigned flags) {
  thread& self = thread::current();
  outlined o{code, data};
  region_options how = options_of(threads, flags, __builtin_return_address(0));
  how.reductions = *static_cast<std::uintptr_t**>(data);
  unsigned size = 0;
  struct sized {
    outlined of;
    unsigned* size;
  } both{o, &size};
  run_region(self, how,
             {[](void* given, thread& member) {
                auto& it = *static_cast<sized*>(given);
                if (member.number == 0) *it.size = member.in->size;
                call_outlined(&it.of, member);
              },
              &both});
  return size;
}

#define HEDDLE_PARALLEL_LOOP(name, plan_of_chunk)                                                                  \
  HEDDLE_OMP_ENTRY void GOMP_parallel_loop_##name(function code, void* data, unsigned threads, long from, long to, \
                                                  long step, long chunk, unsigned flags) {                         \
    loop_plan plan = plan_of_chunk(static_cast<std::uint64_t>(chunk));                                             \
    set_range(plan, from, to, step);                                                                               \
    run(code, data, options_of(threads, flags, __builtin_return_address(0)), &plan);                               \
  }
#define HEDDLE_PARALLEL_LOOP_START(name, plan_of_chunk)                                                           \
  HEDDLE_OMP_ENTRY void GOMP_parallel_loop_##name##_start(function code, void* data, unsigned threads, long from, \
                                                          long to, long step, long chunk) {                       \
    loop_plan plan = plan_of_chunk(static_cast<std::uint64_t>(chunk));                                            \
    set_range(plan, from, to, step);                                                                              \
    start(code, data, options_of(threads, 0, __builtin_return_address(0)), &plan);                                \
  }
#define HEDDLE_PARALLEL_LOOP_RUNTIME(name)                                                                         \
  HEDDLE_OMP_ENTRY void GOMP_parallel_loop_##name(function code, void* data, unsigned threads, long from, long to, \
                                                  long step, unsigned flags) {                                     \
    loop_plan plan = runtime_plan();                                                                               \
    set_range(plan, from, to, step);                                                                               \
    run(code, data, options_of(threads, flags, __builtin_return_address(0)), &plan);                               \
  }

HEDDLE_PARALLEL_LOOP(static, static_plan)
HEDDLE_PARALLEL_LOOP(dynamic, dynamic_plan)
HEDDLE_PARALLEL_LOOP(guided, guided_plan)
HEDDLE_PARALLEL_LOOP(nonmonotonic_dynamic, dynamic_plan)
HEDDLE_PARALLEL_LOOP(nonmonotonic_guided, guided_plan)
HEDDLE_PARALLEL_LOOP_START(static, static_plan)
HEDDLE_PARALLEL_LOOP_START(dynamic, dynamic_plan)
HEDDLE_PARALLEL_LOOP_START(guided, guided_plan)
HEDDLE_PARALLEL_LOOP_RUNTIME(runtime)
HEDDLE_PARALLEL_LOOP_RUNTIME(nonmonotonic_runtime)
HEDDLE_PARALLEL_LOOP_RUNTIME(maybe_nonmonotonic_runtime)

HEDDLE_OMP_ENTRY void GOMP_parallel_loop_runtime_start(function code, void* data, unsigned threads, long from, long to,
                                                       long step) {
  loop_plan plan = runtime_plan();
  set_range(plan, from, to, step);
  start(code, data, options_of(threads, 0, __builtin_return_address(0)), &plan);
}

HEDDLE_OMP_ENTRY void GOMP_parallel_sections(function code, void* data, unsigned threads, unsigned count,
                                             unsigned flags) {
  const loop_plan plan = sections_plan(count);
  run(code, data, options_of(threads, flags, __builtin_return_address(0)), &plan);
}

HEDDLE_OMP_ENTRY void GOMP_parallel_sections_start(function code, void* data, unsigned threads, unsigned count) {
  const loop_plan plan = sections_plan(count);
  start(code, data, options_of(threads, 0, __builtin_return_address(0)), &plan);
}

// A league on the host. Its teams run one after the other, because no construct lets one of them wait for another.
HEDDLE_OMP_ENTRY void GOMP_teams_reg(function code, void* data, unsigned teams, unsigned threads, unsigned) {
  thread& self = thread::current();
  const int asked = teams != 0 ? static_cast<int>(teams) : self.running->variables->teams;
  const int size = asked > 0 ? asked : 1;
  const int limit = threads != 0 ? static_cast<int>(threads) : self.running->variables->teams_thread_limit;
  const ompt::league_events league(self, static_cast<unsigned>(size), __builtin_return_address(0));
  outlined o{code, data};
  for (int number = 0; number < size; ++number) {
    begin_league_member(self, number, size, limit);
    call_outlined(&o, self);
    end_region(self);
  }
}

// Called inside a target region. Returns true for each team of the league, one after the other.
HEDDLE_OMP_ENTRY bool GOMP_teams4(unsigned at_least, unsigned at_most, unsigned threads, bool first) {
  team& t = *thread::current().in;
  if (first) {
    const unsigned size = at_most != 0 ? at_most : at_least != 0 ? at_least : 1;
    t.league_number = 0;
    t.league_size = static_cast<int>(size);
    if (threads != 0) t.variables.thread_limit = static_cast<int>(threads);
    return true;
  }
  if (t.league_number + 1 >= t.league_size) {
    t.league_number = 0;
    t.league_size = 1;
    return false;
  }
  ++t.league_number;
  return true;
}

HEDDLE_OMP_ENTRY void GOMP_teams(unsigned teams, unsigned threads) {
  team& t = *thread::current().in;
  t.league_number = 0;
  t.league_size = teams != 0 ? 1 : 1;
  if (threads != 0) t.variables.thread_limit = static_cast<int>(threads);
}
