// Barriers, single, masked, critical, flush and reductions of the LLVM ABI.
#include <atomic>
#include <cstddef>

#include "omp/core/locks/lock_word.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/kmp/ident.hpp"
#include "omp/ompt/mutexes.hpp"
#include "omp/ompt/sync.hpp"
#include "omp/ompt/work.hpp"

using namespace heddle::omp;
using kmp::ident;

namespace {

using critical_name = std::int32_t[8];

// Whether there are other threads in the team, or in the league, whose teams may run at once.
bool has_others(const thread& self) noexcept { return self.in->size > 1 || self.in->league_size > 1; }

// The way of a reduction: 1, one thread after the other, between this call and its end; 2, by atomic operations of the
// compiler's. Where a tool listens, or has listened, it is always the first, because the end of the second is not told.
// So all members of a team do the same.
bool reduces_one_by_one(const thread& self, const ident* where) noexcept {
  return has_others(self) && (where == nullptr || (where->flags & kmp::reduces_atomically) == 0 || ompt::was_there());
}

// `ends` says that the compiler calls the construct's end in any case. For other constructs it does not when the
// operations are atomic.
std::int32_t begin_reduce(const ident* where, critical_name* lock, bool ends, const void* code) {
  thread& self = thread::current();
  const bool one_by_one = reduces_one_by_one(self, where);
  const std::int32_t way = !has_others(self) || one_by_one ? 1 : 2;
  if (ompt::on() && (ends || way == 1)) [[unlikely]]
    ompt::tell_reduction(self, ompt_scope_begin, code);
  if (one_by_one) lock_at(lock).lock();
  return way;
}

void end_reduce(const ident* where, critical_name* lock, const void* code) {
  thread& self = thread::current();
  if (reduces_one_by_one(self, where)) lock_at(lock).unlock();
  if (ompt::on()) [[unlikely]]
    ompt::tell_reduction(self, ompt_scope_end, code);
}

constexpr ompt_sync_region_t hidden = ompt_sync_region_barrier_implementation;

// The compilers say which barrier it is.
ompt_sync_region_t kind_of(const ident* where) noexcept {
  if (where == nullptr || (where->flags & kmp::explicit_barrier) != 0) return ompt_sync_region_barrier_explicit;
  return (where->flags & kmp::implicit_barrier) != 0 ? ompt_sync_region_barrier_implicit_workshare : hidden;
}

}  // namespace

HEDDLE_OMP_ENTRY void __kmpc_barrier(ident* where, std::int32_t) {
  ompt::barrier(thread::current(), kind_of(where), __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_barrier_master(ident*, std::int32_t) {
  thread& self = thread::current();
  ompt::barrier(self, hidden, __builtin_return_address(0));
  return self.number == 0 ? 1 : 0;
}
HEDDLE_OMP_ENTRY void __kmpc_end_barrier_master(ident*, std::int32_t) {
  ompt::barrier(thread::current(), hidden, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY std::int32_t __kmpc_barrier_master_nowait(ident*, std::int32_t) {
  thread& self = thread::current();
  ompt::barrier(self, hidden, __builtin_return_address(0));
  return self.number == 0 ? 1 : 0;
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_single(ident*, std::int32_t) {
  thread& self = thread::current();
  const bool mine = take_single(self);
  if (ompt::on()) [[unlikely]]
    ompt::single_begins(self, mine, __builtin_return_address(0));
  return mine ? 1 : 0;
}
HEDDLE_OMP_ENTRY void __kmpc_end_single(ident*, std::int32_t) {
  if (ompt::on()) [[unlikely]]
    ompt::single_ends(thread::current(), __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY void __kmpc_copyprivate(ident*, std::int32_t, std::size_t, void* data,
                                         void (*copy)(void* to, void* from), std::int32_t did_it) {
  thread& self = thread::current();
  team& t = *self.in;
  if (did_it != 0) t.copied.store(data);
  ompt::barrier(self, hidden, __builtin_return_address(0));
  if (did_it == 0) copy(data, t.copied.load());
  // The data lies on the stack of the member that executed the construct.
  ompt::barrier(self, hidden, __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY void* __kmpc_copyprivate_light(ident*, std::int32_t, void* data) {
  thread& self = thread::current();
  team& t = *self.in;
  if (data != nullptr) t.copied.store(data);
  ompt::barrier(self, hidden, __builtin_return_address(0));
  return t.copied.load();
}

namespace {

std::int32_t enters_masked(bool enters, const void* code) {
  if (enters && ompt::on()) [[unlikely]]
    ompt::masked(thread::current(), ompt_scope_begin, code);
  return enters ? 1 : 0;
}
void leaves_masked(const void* code) {
  if (ompt::on()) [[unlikely]]
    ompt::masked(thread::current(), ompt_scope_end, code);
}

}  // namespace

HEDDLE_OMP_ENTRY std::int32_t __kmpc_master(ident*, std::int32_t) {
  return enters_masked(thread::current().number == 0, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void __kmpc_end_master(ident*, std::int32_t) { leaves_masked(__builtin_return_address(0)); }
HEDDLE_OMP_ENTRY std::int32_t __kmpc_masked(ident*, std::int32_t, std::int32_t filter) {
  return enters_masked(static_cast<std::int32_t>(thread::current().number) == filter, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void __kmpc_end_masked(ident*, std::int32_t) { leaves_masked(__builtin_return_address(0)); }

HEDDLE_OMP_ENTRY void __kmpc_critical(ident*, std::int32_t, critical_name* name) {
  ompt::take([name] { lock_at(name).lock(); }, ompt_mutex_critical, name, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void __kmpc_critical_with_hint(ident*, std::int32_t, critical_name* name, std::uint32_t hint) {
  ompt::take([name] { lock_at(name).lock(); }, ompt_mutex_critical, name, __builtin_return_address(0), hint);
}
HEDDLE_OMP_ENTRY void __kmpc_end_critical(ident*, std::int32_t, critical_name* name) {
  ompt::release([name] { lock_at(name).unlock(); }, ompt_mutex_critical, name, __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY void __kmpc_flush(ident*) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (ompt::on()) [[unlikely]]
    ompt::tell_flush(thread::current(), __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_reduce_nowait(ident* where, std::int32_t, std::int32_t, std::size_t, void*,
                                                   void (*)(void*, void*), critical_name* lock) {
  return begin_reduce(where, lock, false, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void __kmpc_end_reduce_nowait(ident* where, std::int32_t, critical_name* lock) {
  end_reduce(where, lock, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY std::int32_t __kmpc_reduce(ident* where, std::int32_t, std::int32_t, std::size_t, void*,
                                            void (*)(void*, void*), critical_name* lock) {
  return begin_reduce(where, lock, true, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void __kmpc_end_reduce(ident* where, std::int32_t, critical_name* lock) {
  end_reduce(where, lock, __builtin_return_address(0));
  ompt::barrier(thread::current(), hidden, __builtin_return_address(0));
}
