// Doacross loops of the GNU ABI. The iterations of each of the nested loops are numbered from 0, and those of the
// outermost loop are handed out.
#include "omp/core/teams/doacross.hpp"

#include <cstdarg>
#include <cstdlib>
#include <memory>
#include <new>

#include "omp/core/tasks/task_reduction.hpp"
#include "omp/gomp/region.hpp"
#include "omp/ompt/tasks.hpp"
#include "omp/ompt/work.hpp"

using namespace heddle::omp;
using namespace heddle::omp::gomp;

using unsigned_long = unsigned long long;

namespace {

struct given {
  thread* self;
  unsigned loops;
  const std::uint64_t* trips;
  std::uintptr_t* reductions;
  void** memory;
  bool was_first;
};

void set_up(work_share& s, void* data) {
  auto& g = *static_cast<given*>(data);
  g.was_first = true;
  const auto loops = std::make_unique<doacross_loop[]>(g.loops);
  for (unsigned i = 0; i < g.loops; ++i) loops[i].trips = g.trips[i];
  s.across = make_doacross(g.loops, loops.get());
  if (g.memory != nullptr) {
    s.memory = std::calloc(1, reinterpret_cast<std::uintptr_t>(*g.memory));
    if (s.memory == nullptr) throw std::bad_alloc();
  }
  if (g.reductions != nullptr) begin_shared_words(*g.self, g.reductions, s.reductions);
}

// The counts of both kinds of loops are words of 64 bits.
bool start(loop_plan plan, unsigned loops, const void* trips, void* first, void* behind, std::uintptr_t* reductions,
           void** memory, const void* code) {
  thread& self = thread::current();
  const auto* counts = static_cast<const std::uint64_t*>(trips);
  given g{&self, loops, counts, reductions, memory, false};
  plan.shared = true;
  plan.trips = plan.end = counts[0];
  begin_loop(self, plan, set_up, &g);
  if (ompt::on()) [[unlikely]]
    ompt::loop_begins(self, code);
  if (memory != nullptr) *memory = self.work.share->memory;
  if (reductions != nullptr && !g.was_first) begin_shared_words(self, reductions, self.work.share->reductions);
  if (first == nullptr) return true;
  if (!next_block(self)) return false;
  if (ompt::on()) [[unlikely]]
    ompt::block_begins(self, code);
  *static_cast<std::uint64_t*>(first) = self.work.now.first;
  *static_cast<std::uint64_t*>(behind) = self.work.now.first + self.work.now.count;
  return true;
}

void post_values(const std::uint64_t* values) {
  thread& self = thread::current();
  if (self.work.share == nullptr || self.in->size == 1) return;
  std::uint64_t number = 0;
  doacross& d = *self.work.share->across;
  if (!number_of(d, values, number)) return;
  if (ompt::on()) [[unlikely]]
    ompt::doacross(self, values, d.loops, true);
  post(self, d, number);
}

template <class T>
void wait_for_values(T first, std::va_list rest) {
  thread& self = thread::current();
  if (self.work.share == nullptr || self.in->size == 1) return;
  doacross& d = *self.work.share->across;
  const auto values = std::make_unique<std::uint64_t[]>(d.loops);
  values[0] = static_cast<std::uint64_t>(first);
  for (unsigned i = 1; i < d.loops; ++i) values[i] = static_cast<std::uint64_t>(va_arg(rest, T));
  std::uint64_t number = 0;
  if (!number_of(d, values.get(), number)) return;
  if (ompt::on()) [[unlikely]]
    ompt::doacross(self, values.get(), d.loops, false);
  wait_for(self, d, number);
}

}  // namespace

#define HEDDLE_DOACROSS(prefix, type)                                                                               \
  HEDDLE_OMP_ENTRY bool GOMP_##prefix##doacross_static_start(unsigned loops, type* trips, type chunk, type* first,  \
                                                             type* behind) {                                        \
    return start(static_plan(static_cast<std::uint64_t>(chunk)), loops, trips, first, behind, nullptr, nullptr,     \
                 __builtin_return_address(0));                                                                      \
  }                                                                                                                 \
  HEDDLE_OMP_ENTRY bool GOMP_##prefix##doacross_dynamic_start(unsigned loops, type* trips, type chunk, type* first, \
                                                              type* behind) {                                       \
    return start(dynamic_plan(static_cast<std::uint64_t>(chunk)), loops, trips, first, behind, nullptr, nullptr,    \
                 __builtin_return_address(0));                                                                      \
  }                                                                                                                 \
  HEDDLE_OMP_ENTRY bool GOMP_##prefix##doacross_guided_start(unsigned loops, type* trips, type chunk, type* first,  \
                                                             type* behind) {                                        \
    return start(guided_plan(static_cast<std::uint64_t>(chunk)), loops, trips, first, behind, nullptr, nullptr,     \
                 __builtin_return_address(0));                                                                      \
  }                                                                                                                 \
  HEDDLE_OMP_ENTRY bool GOMP_##prefix##doacross_runtime_start(unsigned loops, type* trips, type* first,             \
                                                              type* behind) {                                       \
    return start(runtime_plan(), loops, trips, first, behind, nullptr, nullptr, __builtin_return_address(0));       \
  }                                                                                                                 \
  HEDDLE_OMP_ENTRY bool GOMP_##prefix##doacross_start(unsigned loops, type* trips, long schedule, type chunk,       \
                                                      type* first, type* behind, std::uintptr_t* reductions,        \
                                                      void** memory) {                                              \
    return start(plan_of(schedule, static_cast<std::uint64_t>(chunk)), loops, trips, first, behind, reductions,     \
                 memory, __builtin_return_address(0));                                                              \
  }

HEDDLE_DOACROSS(loop_, long)
HEDDLE_DOACROSS(loop_ull_, unsigned_long)

HEDDLE_OMP_ENTRY void GOMP_doacross_post(long* values) { post_values(reinterpret_cast<std::uint64_t*>(values)); }
HEDDLE_OMP_ENTRY void GOMP_doacross_ull_post(unsigned_long* values) {
  post_values(reinterpret_cast<std::uint64_t*>(values));
}
HEDDLE_OMP_ENTRY void GOMP_doacross_wait(long first, ...) {
  std::va_list rest;
  va_start(rest, first);
  wait_for_values(first, rest);
  va_end(rest);
}
HEDDLE_OMP_ENTRY void GOMP_doacross_ull_wait(unsigned_long first, ...) {
  std::va_list rest;
  va_start(rest, first);
  wait_for_values(first, rest);
  va_end(rest);
}
