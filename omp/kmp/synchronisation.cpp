// Barriers, single, masked, critical, flush and reductions of the LLVM ABI.
#include <atomic>
#include <cstddef>

#include "omp/core/lock_word.hpp"
#include "omp/core/team.hpp"
#include "omp/kmp/ident.hpp"

using namespace heddle::omp;
using kmp::ident;

namespace {

using critical_name = std::int32_t[8];

// In the team, or in the league, whose teams may run at once.
bool has_others(const thread& self) noexcept { return self.in->size > 1 || self.in->league_size > 1; }

// How a reduction is done: 1, one thread after the other, between this call and its end; 2, by atomic operations of
// the compiler's.
bool reduces_one_by_one(const thread& self, const ident* where) noexcept {
  return has_others(self) && (where == nullptr || (where->flags & kmp::reduces_atomically) == 0);
}

std::int32_t begin_reduce(const ident* where, critical_name* lock) {
  const thread& self = thread::current();
  if (!has_others(self)) return 1;
  if (!reduces_one_by_one(self, where)) return 2;
  lock_at(lock).lock();
  return 1;
}

}  // namespace

HEDDLE_OMP_ENTRY void __kmpc_barrier(ident*, std::int32_t) { wait_at_barrier(thread::current()); }

HEDDLE_OMP_ENTRY std::int32_t __kmpc_barrier_master(ident*, std::int32_t) {
  thread& self = thread::current();
  wait_at_barrier(self);
  return self.number == 0 ? 1 : 0;
}
HEDDLE_OMP_ENTRY void __kmpc_end_barrier_master(ident*, std::int32_t) { wait_at_barrier(thread::current()); }
HEDDLE_OMP_ENTRY std::int32_t __kmpc_barrier_master_nowait(ident*, std::int32_t) {
  thread& self = thread::current();
  wait_at_barrier(self);
  return self.number == 0 ? 1 : 0;
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_single(ident*, std::int32_t) { return take_single(thread::current()) ? 1 : 0; }
HEDDLE_OMP_ENTRY void __kmpc_end_single(ident*, std::int32_t) {}

HEDDLE_OMP_ENTRY void __kmpc_copyprivate(ident*, std::int32_t, std::size_t, void* data,
                                         void (*copy)(void* to, void* from), std::int32_t did_it) {
  thread& self = thread::current();
  team& t = *self.in;
  if (did_it != 0) t.copied.store(data);
  wait_at_barrier(self);
  if (did_it == 0) copy(data, t.copied.load());
  wait_at_barrier(self);  // the data lie on the stack of who did it
}

HEDDLE_OMP_ENTRY void* __kmpc_copyprivate_light(ident*, std::int32_t, void* data) {
  thread& self = thread::current();
  team& t = *self.in;
  if (data != nullptr) t.copied.store(data);
  wait_at_barrier(self);
  return t.copied.load();
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_master(ident*, std::int32_t) { return thread::current().number == 0 ? 1 : 0; }
HEDDLE_OMP_ENTRY void __kmpc_end_master(ident*, std::int32_t) {}
HEDDLE_OMP_ENTRY std::int32_t __kmpc_masked(ident*, std::int32_t, std::int32_t filter) {
  return static_cast<std::int32_t>(thread::current().number) == filter ? 1 : 0;
}
HEDDLE_OMP_ENTRY void __kmpc_end_masked(ident*, std::int32_t) {}

HEDDLE_OMP_ENTRY void __kmpc_critical(ident*, std::int32_t, critical_name* name) { lock_at(name).lock(); }
HEDDLE_OMP_ENTRY void __kmpc_critical_with_hint(ident*, std::int32_t, critical_name* name, std::uint32_t) {
  lock_at(name).lock();
}
HEDDLE_OMP_ENTRY void __kmpc_end_critical(ident*, std::int32_t, critical_name* name) { lock_at(name).unlock(); }

HEDDLE_OMP_ENTRY void __kmpc_flush(ident*) { std::atomic_thread_fence(std::memory_order_seq_cst); }

HEDDLE_OMP_ENTRY std::int32_t __kmpc_reduce_nowait(ident* where, std::int32_t, std::int32_t, std::size_t, void*,
                                                   void (*)(void*, void*), critical_name* lock) {
  return begin_reduce(where, lock);
}
HEDDLE_OMP_ENTRY void __kmpc_end_reduce_nowait(ident* where, std::int32_t, critical_name* lock) {
  if (reduces_one_by_one(thread::current(), where)) lock_at(lock).unlock();
}
HEDDLE_OMP_ENTRY std::int32_t __kmpc_reduce(ident* where, std::int32_t, std::int32_t, std::size_t, void*,
                                            void (*)(void*, void*), critical_name* lock) {
  return begin_reduce(where, lock);
}
HEDDLE_OMP_ENTRY void __kmpc_end_reduce(ident* where, std::int32_t, critical_name* lock) {
  thread& self = thread::current();
  if (reduces_one_by_one(self, where)) lock_at(lock).unlock();
  wait_at_barrier(self);
}
