// Loops of the LLVM ABI whose iterations are requested chunk by chunk, and ordered constructs.
#include <algorithm>
#include <utility>

#include "omp/core/teams/team.hpp"
#include "omp/kmp/ident.hpp"
#include "omp/kmp/schedule.hpp"
#include "omp/kmp/static_part.hpp"
#include "omp/ompt/mutexes.hpp"
#include "omp/ompt/work.hpp"

using namespace heddle::omp;
using namespace heddle::omp::kmp;

namespace {

// The same as in LLVM's runtime, so that loops whose iterations differ are balanced.
constexpr schedule_kind what_auto_is = schedule_kind::of_guided;

loop_plan plan_of(const thread& self, std::int32_t schedule, std::int64_t chunk) noexcept {
  loop_plan plan;
  std::int32_t kind = schedule & ~modifiers;
  if (kind >= first_unmerged) kind -= unmerged_offset;
  if (kind >= first_ordered && kind <= last_ordered) {
    plan.ordered = true;
    kind -= ordered_offset;
  }
  plan.chunk = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
  switch (kind) {
    case by_runtime:
    case runtime_simd: {
      const heddle::omp::schedule& s = self.running->variables->run_schedule;
      const std::uint64_t lanes = kind == runtime_simd ? std::max<std::uint64_t>(plan.chunk, 1) : 1;
      const bool is_auto = s.kind == schedule_kind::automatic;
      plan.kind = is_auto ? what_auto_is : s.kind;
      plan.chunk = s.chunk > 0 && !is_auto ? static_cast<std::uint64_t>(s.chunk) * lanes : 0;
      // The shrinking blocks are multiples of the smallest one.
      plan.grain = plan.kind == schedule_kind::of_guided ? std::max(plan.chunk, lanes) : lanes;
      break;
    }
    case dynamic_chunked: plan.kind = schedule_kind::of_dynamic; break;
    case guided_chunked:
    case guided_iterative:
    case guided_analytical:
    case trapezoidal: plan.kind = schedule_kind::of_guided; break;
    case guided_simd:
      plan.kind = schedule_kind::of_guided;
      plan.grain = std::max<std::uint64_t>(plan.chunk, 1);
      break;
    case static_balanced_chunked: plan.grain = std::exchange(plan.chunk, 0); break;
    case static_steal: plan.kind = schedule_kind::of_dynamic; break;
    case static_even:
    case static_greedy:
    case static_balanced: plan.chunk = 0; break;
    case by_itself:
      plan.kind = what_auto_is;
      plan.chunk = 0;
      break;
    default: break;
  }
  return plan;
}

template <class T>
void begin(std::int32_t schedule, T lower, T upper, signed_of<T> step, signed_of<T> chunk, const void* code) {
  thread& self = thread::current();
  loop_plan plan = plan_of(self, schedule, chunk);
  plan.trips = trips_of<T>(lower, upper, step);
  plan.start = static_cast<std::uint64_t>(lower);
  plan.step = static_cast<std::uint64_t>(std::int64_t{step});
  if (plan.grain > 1 && plan.kind == schedule_kind::of_static &&
      plan.chunk == 0) {  // one block a member, of whole lanes
    const std::uint64_t even = (plan.trips + self.in->size - 1) / self.in->size;
    plan.chunk = (even + plan.grain - 1) / plan.grain * plan.grain;
  }
  begin_loop(self, plan);
  if (ompt::on()) [[unlikely]]
    ompt::loop_begins(self, code);
}

template <class T>
std::int32_t next(std::int32_t* last, T* lower, T* upper, signed_of<T>* stride, const void* code) {
  thread& self = thread::current();
  work_cursor& c = self.work;
  if (!c.in_loop) return 0;
  const bool found = next_block(self);
  if (ompt::on()) [[unlikely]]
    found ? ompt::block_begins(self, code) : ompt::loop_ends(self, code);
  if (!found) {
    // *last keeps its value from the member's last block, because lastprivate is done after this.
    end_loop(self);
    return 0;
  }
  const auto first = static_cast<T>(c.plan.start);
  const auto step = static_cast<signed_of<T>>(c.plan.step);
  *lower = value_of<T>(first, step, c.now.first);
  *upper = value_of<T>(first, step, c.now.first + c.now.count - 1);
  if (stride != nullptr) *stride = step;
  if (last != nullptr) *last = c.now.first + c.now.count == c.plan.trips ? 1 : 0;
  return 1;
}

// A distribute parallel for with such a schedule: its threads share the team's even part of the loop.
template <class T>
void begin_of_league(std::int32_t schedule, std::int32_t* last, T lower, T upper, signed_of<T> step, signed_of<T> chunk,
                     const void* code) {
  const team& t = *thread::current().in;
  signed_of<T> unused = 0;
  part<T>({static_cast<std::uint64_t>(t.league_number), static_cast<std::uint64_t>(t.league_size)}, false, last, &lower,
          &upper, &unused, step, chunk);
  begin<T>(schedule, lower, upper, step, chunk, code);
}

}  // namespace

#define HEDDLE_DISPATCH(suffix, type)                                                                                \
  HEDDLE_OMP_ENTRY void __kmpc_dispatch_init_##suffix(ident*, std::int32_t, std::int32_t schedule, type lower,       \
                                                      type upper, signed_of<type> step, signed_of<type> chunk) {     \
    begin<type>(schedule, lower, upper, step, chunk, __builtin_return_address(0));                                   \
  }                                                                                                                  \
  HEDDLE_OMP_ENTRY void __kmpc_dist_dispatch_init_##suffix(ident*, std::int32_t, std::int32_t schedule,              \
                                                           std::int32_t* last, type lower, type upper,               \
                                                           signed_of<type> step, signed_of<type> chunk) {            \
    begin_of_league<type>(schedule, last, lower, upper, step, chunk, __builtin_return_address(0));                   \
  }                                                                                                                  \
  HEDDLE_OMP_ENTRY std::int32_t __kmpc_dispatch_next_##suffix(ident*, std::int32_t, std::int32_t* last, type* lower, \
                                                              type* upper, signed_of<type>* stride) {                \
    return next<type>(last, lower, upper, stride, __builtin_return_address(0));                                      \
  }                                                                                                                  \
  HEDDLE_OMP_ENTRY void __kmpc_dispatch_fini_##suffix(ident*, std::int32_t) {                                        \
    end_ordered_iteration(thread::current());                                                                        \
  }

HEDDLE_DISPATCH(4, std::int32_t)
HEDDLE_DISPATCH(4u, std::uint32_t)
HEDDLE_DISPATCH(8, std::int64_t)
HEDDLE_DISPATCH(8u, std::uint64_t)

HEDDLE_OMP_ENTRY void __kmpc_dispatch_deinit(ident*, std::int32_t) {}

HEDDLE_OMP_ENTRY void __kmpc_ordered(ident*, std::int32_t) {
  thread& self = thread::current();
  ompt::take([&] { begin_ordered(self); }, ompt_mutex_ordered, self.in, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void __kmpc_end_ordered(ident*, std::int32_t) {
  thread& self = thread::current();
  ompt::release([&] { end_ordered(self); }, ompt_mutex_ordered, self.in, __builtin_return_address(0));
}

// Sections are a loop with a number for each section.
HEDDLE_OMP_ENTRY std::int32_t __kmpc_sections_init(ident*, std::int32_t) { return 0; }
HEDDLE_OMP_ENTRY std::int32_t __kmpc_next_section(ident*, std::int32_t, std::int32_t count) {
  thread& self = thread::current();
  if (!self.work.in_loop) {
    loop_plan plan;
    plan.kind = schedule_kind::of_dynamic;
    plan.sections = true;
    plan.trips = static_cast<std::uint64_t>(count) + 1;
    begin_loop(self, plan);
    if (ompt::on()) [[unlikely]]
      ompt::loop_begins(self, __builtin_return_address(0));
  }
  if (!next_block(self)) return count + 1;
  if (ompt::on()) [[unlikely]]
    ompt::block_begins(self, __builtin_return_address(0));
  return static_cast<std::int32_t>(self.work.now.first);
}
HEDDLE_OMP_ENTRY void __kmpc_end_sections(ident*, std::int32_t) {
  thread& self = thread::current();
  if (ompt::on()) [[unlikely]]
    ompt::loop_ends(self, __builtin_return_address(0));
  end_loop(self);
}
