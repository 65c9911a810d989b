// Cancellation in the LLVM ABI.
#include "omp/core/cancel.hpp"

#include "omp/core/team.hpp"
#include "omp/kmp/ident.hpp"
#include "omp/ompt/cancel.hpp"
#include "omp/ompt/sync.hpp"

using namespace heddle::omp;
using kmp::ident;

HEDDLE_OMP_ENTRY std::int32_t __kmpc_cancel(ident*, std::int32_t, std::int32_t kind) {
  return ompt::cancel(thread::current(), static_cast<cancels>(kind), __builtin_return_address(0)) ? 1 : 0;
}

HEDDLE_OMP_ENTRY std::int32_t __kmpc_cancellationpoint(ident*, std::int32_t, std::int32_t kind) {
  return ompt::is_cancelled(thread::current(), static_cast<cancels>(kind), __builtin_return_address(0)) ? 1 : 0;
}

// The barrier that ends a loop or a region in which somebody may cancel; not 0: somebody has. All members come here,
// those that leave a cancelled region, too.
HEDDLE_OMP_ENTRY std::int32_t __kmpc_cancel_barrier(ident*, std::int32_t) {
  thread& self = thread::current();
  ompt::barrier(self, ompt_sync_region_barrier_implicit_workshare, __builtin_return_address(0));
  team& t = *self.in;
  const int kind = t.cancel_kind.load();
  if (kind == 0) return 0;
  wait_at_barrier(self);  // everybody has read it
  if (kind == static_cast<int>(cancels::parallel)) return 1;
  t.cancel_kind.store(0);
  wait_at_barrier(self);  // nobody cancels the next one before that
  return 1;
}

HEDDLE_OMP_ENTRY std::int32_t __kmp_get_cancellation_status(int kind) {
  return is_cancelled(thread::current(), static_cast<cancels>(kind)) ? 1 : 0;
}
