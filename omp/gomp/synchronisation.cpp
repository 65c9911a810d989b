// Barriers, single, critical and cancellation of the GNU ABI.
#include "omp/core/cancel.hpp"
#include "omp/core/lock_word.hpp"
#include "omp/core/team.hpp"
#include "omp/core/thread.hpp"

using namespace heddle::omp;

HEDDLE_OMP_ENTRY void GOMP_barrier() { wait_at_barrier(thread::current()); }
HEDDLE_OMP_ENTRY bool GOMP_barrier_cancel() { return wait_at_barrier(thread::current(), true); }

HEDDLE_OMP_ENTRY bool GOMP_single_start() { return take_single(thread::current()); }

// Null: the caller executes it, and ends it with what the others are to copy.
HEDDLE_OMP_ENTRY void* GOMP_single_copy_start() {
  thread& self = thread::current();
  if (take_single(self)) return nullptr;
  wait_at_barrier(self);
  return self.in->copied.load();
}
HEDDLE_OMP_ENTRY void GOMP_single_copy_end(void* data) {
  thread& self = thread::current();
  self.in->copied.store(data);
  wait_at_barrier(self);
}

namespace {

constinit lock_word unnamed;

cancels kind_of(int which) noexcept {
  switch (which) {
    case 1: return cancels::parallel;
    case 2: return cancels::loop;
    case 4: return cancels::sections;
    case 8: return cancels::taskgroup;
    default: return cancels::nothing;
  }
}

}  // namespace

HEDDLE_OMP_ENTRY void GOMP_critical_start() { unnamed.lock(); }
HEDDLE_OMP_ENTRY void GOMP_critical_end() { unnamed.unlock(); }
HEDDLE_OMP_ENTRY void GOMP_critical_name_start(void** name) { lock_at(name).lock(); }
HEDDLE_OMP_ENTRY void GOMP_critical_name_end(void** name) { lock_at(name).unlock(); }

HEDDLE_OMP_ENTRY bool GOMP_cancellation_point(int which) { return is_cancelled(thread::current(), kind_of(which)); }
HEDDLE_OMP_ENTRY bool GOMP_cancel(int which, bool now) {
  if (!now) return GOMP_cancellation_point(which);
  return cancel(thread::current(), kind_of(which));
}
