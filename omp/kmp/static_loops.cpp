// Loops of the LLVM ABI whose iterations are handed out by arithmetic alone.
#include "omp/core/team.hpp"
#include "omp/kmp/ident.hpp"
#include "omp/kmp/schedule.hpp"
#include "omp/kmp/static_part.hpp"

using namespace heddle::omp;
using namespace heddle::omp::kmp;

namespace {

place in_league(const team& t) noexcept {
  return {static_cast<std::uint64_t>(t.league_number), static_cast<std::uint64_t>(t.league_size)};
}

template <class T>
void for_static(std::int32_t schedule, std::int32_t* last, T* lower, T* upper, signed_of<T>* stride, signed_of<T> step,
                signed_of<T> chunk) {
  const thread& self = thread::current();
  const team& t = *self.in;
  std::int32_t kind = schedule & ~modifiers;
  if (kind >= first_unmerged) kind -= unmerged_offset;
  const bool of_league = kind == distribute_static || kind == distribute_static_chunked;
  if (kind >= first_ordered && kind <= last_ordered) kind -= ordered_offset;
  const bool chunked = kind == static_chunked || kind == distribute_static_chunked || kind == static_balanced_chunked;
  part<T>(of_league ? in_league(t) : place{self.number, t.size}, chunked, last, lower, upper, stride, step, chunk);
}

// The teams of a league take even parts, up to *upper_of_team; the threads of each share theirs.
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
      ident*, std::int32_t, std::int32_t schedule, std::int32_t* last, type* lower, type* upper,                      \
      signed_of<type>* stride, signed_of<type> step, signed_of<type> chunk) {                                         \
    for_static<type>(schedule, last, lower, upper, stride, step, chunk);                                              \
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

HEDDLE_OMP_ENTRY void __kmpc_for_static_fini(ident*, std::int32_t) {}
HEDDLE_OMP_ENTRY void __kmpc_distribute_static_fini(ident*, std::int32_t) {}
