// Cancellation in the LLVM ABI.
#include "omp/core/teams/cancel.hpp"

#include "omp/core/teams/team.hpp"
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

// A barrier in a region that may be cancelled. Returns nonzero if it was cancelled, and the caller must leave it. All
// members come here, also those that leave a cancelled region. A loop that was cancelled ends here, and its members go
// on.
HEDDLE_OMP_ENTRY std::int32_t __kmpc_cancel_barrier(ident*, std::int32_t) {
  thread& self = thread::current();
  const std::uint32_t phase = self.in->barrier.phase();
  ompt::barrier(self, ompt_sync_region_barrier_implicit_workshare, __builtin_return_address(0));
  return self.in->cancellations.in(phase) == cancels::parallel ? 1 : 0;  // [barrier:7]
}

HEDDLE_OMP_ENTRY std::int32_t __kmp_get_cancellation_status(int kind) {
  return is_cancelled(thread::current(), static_cast<cancels>(kind)) ? 1 : 0;
}
