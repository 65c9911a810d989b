// Loops and sections of the GNU ABI.
#include <cstdlib>
#include <new>

#include "omp/core/tasks/task_reduction.hpp"
#include "omp/gomp/region.hpp"
#include "omp/ompt/mutexes.hpp"
#include "omp/ompt/sync.hpp"
#include "omp/ompt/work.hpp"

using namespace heddle::omp;
using namespace heddle::omp::gomp;

using unsigned_long = unsigned long long;

namespace {

// `code` is the place where the program called, for tools.
template <class T>
bool next(T* from, T* to, const void* code) {
  thread& self = thread::current();
  if (self.work.plan.ordered) pass_ordered_block(self);
  if (!next_block(self)) return false;
  if (ompt::on()) [[unlikely]]
    ompt::block_begins(self, code);
  const work_cursor& c = self.work;
  const std::uint64_t behind = c.now.first + c.now.count;
  *from = static_cast<T>(c.plan.start + c.now.first * c.plan.step);
  *to = static_cast<T>(behind == c.plan.trips ? c.plan.end : c.plan.start + behind * c.plan.step);
  return true;
}

// The things that a loop shares beyond its counters: reductions of tasks, and zeroed memory.
struct extras {
  thread* self;
  std::uintptr_t* reductions;
  void** memory;
  bool was_first;
};

void set_up_extras(work_share& s, void* given) {
  auto& e = *static_cast<extras*>(given);
  e.was_first = true;
  if (e.memory != nullptr) {
    s.memory = std::calloc(1, reinterpret_cast<std::uintptr_t>(*e.memory));
    if (s.memory == nullptr) throw std::bad_alloc();
  }
  if (e.reductions != nullptr) begin_shared_words(*e.self, e.reductions, s.reductions);
}

void begin_told(thread& self, const loop_plan& plan, const void* code) {
  begin_loop(self, plan);
  if (ompt::on()) [[unlikely]]
    ompt::loop_begins(self, code);
}

void begin_with_extras(loop_plan& plan, std::uintptr_t* reductions, void** memory, const void* code) {
  thread& self = thread::current();
  extras e{&self, reductions, memory, false};
  plan.shared = reductions != nullptr || memory != nullptr;
  begin_loop(self, plan, set_up_extras, &e);
  if (code != nullptr && ompt::on()) [[unlikely]]
    ompt::loop_begins(self, code);
  if (memory != nullptr) *memory = self.work.share->memory;
  if (reductions != nullptr && !e.was_first) begin_shared_words(self, reductions, self.work.share->reductions);
}

bool start(loop_plan plan, bool ordered, long from, long to, long step, long* first, long* behind, const void* code) {
  plan.ordered = ordered;
  set_range(plan, from, to, step);
  begin_told(thread::current(), plan, code);
  return next(first, behind, code);
}

bool start(loop_plan plan, bool ordered, bool up, unsigned_long from, unsigned_long to, unsigned_long step,
           unsigned_long* first, unsigned_long* behind, const void* code) {
  plan.ordered = ordered;
  set_range(plan, up, from, to, step);
  begin_told(thread::current(), plan, code);
  return next(first, behind, code);
}

}  // namespace

#define HEDDLE_LOOP(name, plan_of_chunk, ordered)                                                                   \
  HEDDLE_OMP_ENTRY bool GOMP_loop_##name##_start(long from, long to, long step, long chunk, long* first,            \
                                                 long* behind) {                                                    \
    return start(plan_of_chunk(static_cast<std::uint64_t>(chunk)), ordered, from, to, step, first, behind,          \
                 __builtin_return_address(0));                                                                      \
  }                                                                                                                 \
  HEDDLE_OMP_ENTRY bool GOMP_loop_##name##_next(long* first, long* behind) {                                        \
    return next(first, behind, __builtin_return_address(0));                                                        \
  }                                                                                                                 \
  HEDDLE_OMP_ENTRY bool GOMP_loop_ull_##name##_start(bool up, unsigned_long from, unsigned_long to,                 \
                                                     unsigned_long step, unsigned_long chunk, unsigned_long* first, \
                                                     unsigned_long* behind) {                                       \
    return start(plan_of_chunk(chunk), ordered, up, from, to, step, first, behind, __builtin_return_address(0));    \
  }                                                                                                                 \
  HEDDLE_OMP_ENTRY bool GOMP_loop_ull_##name##_next(unsigned_long* first, unsigned_long* behind) {                  \
    return next(first, behind, __builtin_return_address(0));                                                        \
  }
#define HEDDLE_RUNTIME_LOOP(name, ordered)                                                                   \
  HEDDLE_OMP_ENTRY bool GOMP_loop_##name##_start(long from, long to, long step, long* first, long* behind) { \
    return start(runtime_plan(), ordered, from, to, step, first, behind, __builtin_return_address(0));       \
  }                                                                                                          \
  HEDDLE_OMP_ENTRY bool GOMP_loop_##name##_next(long* first, long* behind) {                                 \
    return next(first, behind, __builtin_return_address(0));                                                 \
  }                                                                                                          \
  HEDDLE_OMP_ENTRY bool GOMP_loop_ull_##name##_start(bool up, unsigned_long from, unsigned_long to,          \
                                                     unsigned_long step, unsigned_long* first,               \
                                                     unsigned_long* behind) {                                \
    return start(runtime_plan(), ordered, up, from, to, step, first, behind, __builtin_return_address(0));   \
  }                                                                                                          \
  HEDDLE_OMP_ENTRY bool GOMP_loop_ull_##name##_next(unsigned_long* first, unsigned_long* behind) {           \
    return next(first, behind, __builtin_return_address(0));                                                 \
  }

HEDDLE_LOOP(static, static_plan, false)
HEDDLE_LOOP(dynamic, dynamic_plan, false)
HEDDLE_LOOP(guided, guided_plan, false)
HEDDLE_LOOP(nonmonotonic_dynamic, dynamic_plan, false)
HEDDLE_LOOP(nonmonotonic_guided, guided_plan, false)
HEDDLE_LOOP(ordered_static, static_plan, true)
HEDDLE_LOOP(ordered_dynamic, dynamic_plan, true)
HEDDLE_LOOP(ordered_guided, guided_plan, true)
HEDDLE_RUNTIME_LOOP(runtime, false)
HEDDLE_RUNTIME_LOOP(nonmonotonic_runtime, false)
HEDDLE_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)
HEDDLE_RUNTIME_LOOP(ordered_runtime, true)

namespace {

// If `first` is null, the member asks for its first block later.
template <class T>
bool first_block(T* first, T* behind, const void* code) {
  return first == nullptr || next(first, behind, code);
}

bool start_any(loop_plan plan, bool ordered, long from, long to, long step, long* first, long* behind,
               std::uintptr_t* reductions, void** memory, const void* code) {
  plan.ordered = ordered;
  set_range(plan, from, to, step);
  begin_with_extras(plan, reductions, memory, code);
  return first_block(first, behind, code);
}

bool start_any(loop_plan plan, bool ordered, bool up, unsigned_long from, unsigned_long to, unsigned_long step,
               unsigned_long* first, unsigned_long* behind, std::uintptr_t* reductions, void** memory,
               const void* code) {
  plan.ordered = ordered;
  set_range(plan, up, from, to, step);
  begin_with_extras(plan, reductions, memory, code);
  return first_block(first, behind, code);
}

}  // namespace

#define HEDDLE_ANY_LOOP(ordering, ordered)                                                                         \
  HEDDLE_OMP_ENTRY bool GOMP_loop_##ordering##start(long from, long to, long step, long schedule, long chunk,      \
                                                    long* first, long* behind, std::uintptr_t* reductions,         \
                                                    void** memory) {                                               \
    return start_any(plan_of(schedule, static_cast<std::uint64_t>(chunk)), ordered, from, to, step, first, behind, \
                     reductions, memory, __builtin_return_address(0));                                             \
  }                                                                                                                \
  HEDDLE_OMP_ENTRY bool GOMP_loop_ull_##ordering##start(                                                           \
      bool up, unsigned_long from, unsigned_long to, unsigned_long step, long schedule, unsigned_long chunk,       \
      unsigned_long* first, unsigned_long* behind, std::uintptr_t* reductions, void** memory) {                    \
    return start_any(plan_of(schedule, chunk), ordered, up, from, to, step, first, behind, reductions, memory,     \
                     __builtin_return_address(0));                                                                 \
  }

HEDDLE_ANY_LOOP(, false)
HEDDLE_ANY_LOOP(ordered_, true)

namespace {

void leave_loop(thread& self, const void* code) {
  if (self.work.in_loop && self.work.plan.ordered) pass_ordered_block(self);
  if (ompt::on()) [[unlikely]]
    ompt::loop_ends(self, code);
  end_loop(self);
}

// The barrier behind a loop or sections.
bool barrier_behind(thread& self, const void* code, bool cancellable = false) {
  return ompt::barrier(self, ompt_sync_region_barrier_implicit_workshare, code, cancellable);
}

}  // namespace

HEDDLE_OMP_ENTRY void GOMP_loop_end() {
  thread& self = thread::current();
  leave_loop(self, __builtin_return_address(0));
  barrier_behind(self, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void GOMP_loop_end_nowait() { leave_loop(thread::current(), __builtin_return_address(0)); }
HEDDLE_OMP_ENTRY bool GOMP_loop_end_cancel() {
  thread& self = thread::current();
  if (ompt::on()) [[unlikely]]
    ompt::loop_ends(self, __builtin_return_address(0));
  end_loop(self);
  return barrier_behind(self, __builtin_return_address(0), true);
}

HEDDLE_OMP_ENTRY void GOMP_ordered_start() {
  thread& self = thread::current();
  ompt::take([&] { wait_for_ordered_block(self); }, ompt_mutex_ordered, self.in, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void GOMP_ordered_end() {
  if (ompt::on()) [[unlikely]]
    ompt::release([] {}, ompt_mutex_ordered, thread::current().in, __builtin_return_address(0));
}

namespace {

unsigned next_section(const void* code) {
  thread& self = thread::current();
  if (!next_block(self)) return 0;
  if (ompt::on()) [[unlikely]]
    ompt::section_begins(self, code);
  return static_cast<unsigned>(self.work.now.first) + 1;
}

void leave_sections(thread& self, const void* code) {
  if (ompt::on()) [[unlikely]]
    ompt::loop_ends(self, code);
  end_loop(self);
}

}  // namespace

HEDDLE_OMP_ENTRY unsigned GOMP_sections_start(unsigned count) {
  begin_told(thread::current(), sections_plan(count), __builtin_return_address(0));
  return next_section(__builtin_return_address(0));
}
HEDDLE_OMP_ENTRY unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  loop_plan plan = sections_plan(count);
  begin_with_extras(plan, reductions, memory, __builtin_return_address(0));
  return next_section(__builtin_return_address(0));
}
HEDDLE_OMP_ENTRY unsigned GOMP_sections_next() { return next_section(__builtin_return_address(0)); }
HEDDLE_OMP_ENTRY void GOMP_sections_end() {
  thread& self = thread::current();
  leave_sections(self, __builtin_return_address(0));
  barrier_behind(self, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void GOMP_sections_end_nowait() { leave_sections(thread::current(), __builtin_return_address(0)); }
HEDDLE_OMP_ENTRY bool GOMP_sections_end_cancel() {
  thread& self = thread::current();
  leave_sections(self, __builtin_return_address(0));
  return barrier_behind(self, __builtin_return_address(0), true);
}

HEDDLE_OMP_ENTRY void GOMP_scope_start(std::uintptr_t* reductions) {
  loop_plan plan = dynamic_plan(1);
  begin_with_extras(plan, reductions, nullptr, nullptr);
  end_loop(thread::current());
}
