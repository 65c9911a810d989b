// Loops of the LLVM ABI whose iterations are divided by arithmetic alone.
#include "omp/core/teams/team.hpp"
#include "omp/kmp/ident.hpp"
#include "omp/kmp/schedule.hpp"
#include "omp/kmp/static_part.hpp"
#include "omp/ompt/work.hpp"

using namespace heddle::omp;
using namespace heddle::omp::kmp;

namespace {

position in_league(const team& t) noexcept {
  return {static_cast<std::uint64_t>(t.league_number), static_cast<std::uint64_t>(t.league_size)};
}

ompt_work_t kind_of(const ident* where) noexcept {
  const std::int32_t flags = where != nullptr ? where->flags : 0;
  if ((flags & of_sections) != 0) return ompt_work_sections;
  return (flags & of_distribute) != 0 ? ompt_work_distribute : ompt_work_loop_static;
}

// Tells the beginning of the loop from `first` to `last`, of which the thread has `lower` to `upper` first.
template <class T>
void tell_begin(thread& self, ompt_work_t kind, T first, T last, T lower, T upper, signed_of<T> step,
                const void* code) {
  const std::uint64_t trips = trips_of<T>(first, last, step);
  self.work.plan.trips = trips;  // used at the end; the cursor is in no loop
  ompt::work_begins(self, kind, trips, code);
  const std::uint64_t own = trips != 0 ? trips_of<T>(lower, upper, step) : 0;
  if (own == 0) return;
  if (kind == ompt_work_sections) return ompt::section_begins(self, code);
  ompt::chunk_begins(self, kind == ompt_work_distribute ? ompt_dispatch_distribute_chunk : ompt_dispatch_ws_loop_chunk,
                     trips_of<T>(first, lower, step) - 1, own);
}

void tell_end(const ident* where, const void* code) {
  if (!ompt::on()) [[likely]]
    return;
  thread& self = thread::current();
  ompt::work_ends(self, kind_of(where), self.work.plan.trips, code);
}

template <class T>
void for_static(const ident* where, std::int32_t schedule, std::int32_t* last, T* lower, T* upper, signed_of<T>* stride,
                signed_of<T> step, signed_of<T> chunk, const void* code) {
  thread& self = thread::current();
  const team& t = *self.in;
  const T first = *lower;
  const T last_of_all = *upper;
  std::int32_t kind = schedule & ~modifiers;
  if (kind >= first_unmerged) kind -= unmerged_offset;
  const bool of_league = kind == distribute_static || kind == distribute_static_chunked;
  if (kind >= first_ordered && kind <= last_ordered) kind -= ordered_offset;
  const bool chunked = kind == static_chunked || kind == distribute_static_chunked || kind == static_balanced_chunked;
  part<T>(of_league ? in_league(t) : position{self.number, t.size}, chunked, last, lower, upper, stride, step, chunk);
  if (ompt::on()) [[unlikely]]
    tell_begin<T>(self, of_league ? ompt_work_distribute : kind_of(where), first, last_of_all, *lower, *upper, step,
                  code);
}

// The teams of a league take even parts, up to *upper_of_team. The threads of each team share its part.
template <class T>
void dist_for_static(std::int32_t schedule, std::int32_t* last, T* lower, T* upper, T* upper_of_team,
                     signed_of<T>* stride, signed_of<T> step, signed_of<T> chunk) {
  const thread& self = thread::current();
  const team& t = *self.in;
  std::int32_t last_team = 0;
  std::int32_t last_thread = 0;
  signed_of<T> unused = 0;
  part<T>(in_league(t), false, &last_team, lower, upper, &unused, step, chunk);
  *upper_of_team = *upper;
  part<T>({self.number, t.size}, (schedule & ~modifiers) == static_chunked, &last_thread, lower, upper, stride, step,
          chunk);
  if (last != nullptr) *last = last_team != 0 && last_thread != 0 ? 1 : 0;
}

}  // namespace

#define HEDDLE_STATIC_LOOPS(suffix, type)                                                                             \
  HEDDLE_OMP_ENTRY void __kmpc_for_static_init_##suffix(                                                              \
      ident* where, std::int32_t, std::int32_t schedule, std::int32_t* last, type* lower, type* upper,                \
      signed_of<type>* stride, signed_of<type> step, signed_of<type> chunk) {                                         \
    for_static<type>(where, schedule, last, lower, upper, stride, step, chunk, __builtin_return_address(0));          \
  }                                                                                                                   \
  HEDDLE_OMP_ENTRY void __kmpc_dist_for_static_init_##suffix(                                                         \
      ident*, std::int32_t, std::int32_t schedule, std::int32_t* last, type* lower, type* upper, type* upper_of_team, \
      signed_of<type>* stride, signed_of<type> step, signed_of<type> chunk) {                                         \
    dist_for_static<type>(schedule, last, lower, upper, upper_of_team, stride, step, chunk);                          \
  }                                                                                                                   \
  HEDDLE_OMP_ENTRY void __kmpc_team_static_init_##suffix(ident*, std::int32_t, std::int32_t* last, type* lower,       \
                                                         type* upper, signed_of<type>* stride, signed_of<type> step,  \
                                                         signed_of<type> chunk) {                                     \
    part<type>(in_league(*thread::current().in), true, last, lower, upper, stride, step, chunk);                      \
  }

HEDDLE_STATIC_LOOPS(4, std::int32_t)
HEDDLE_STATIC_LOOPS(4u, std::uint32_t)
HEDDLE_STATIC_LOOPS(8, std::int64_t)
HEDDLE_STATIC_LOOPS(8u, std::uint64_t)

HEDDLE_OMP_ENTRY void __kmpc_for_static_fini(ident* where, std::int32_t) {
  tell_end(where, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void __kmpc_distribute_static_fini(ident* where, std::int32_t) {
  tell_end(where, __builtin_return_address(0));
}
