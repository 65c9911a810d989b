// Barriers, single, critical and cancellation of the GNU ABI.
#include "omp/core/locks/lock_word.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"
#include "omp/ompt/cancel.hpp"
#include "omp/ompt/mutexes.hpp"
#include "omp/ompt/sync.hpp"
#include "omp/ompt/work.hpp"

using namespace heddle::omp;

HEDDLE_OMP_ENTRY void GOMP_barrier() {
  ompt::barrier(thread::current(), ompt_sync_region_barrier_explicit, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY bool GOMP_barrier_cancel() {
  return ompt::barrier(thread::current(), ompt_sync_region_barrier_explicit, __builtin_return_address(0), true);
}

namespace {

bool takes_single(thread& self, const void* code) {
  const bool mine = take_single(self);
  if (ompt::on()) [[unlikely]]
    ompt::gnu_single_begins(self, mine, code);
  return mine;
}

constexpr ompt_sync_region_t of_workshare = ompt_sync_region_barrier_implicit_workshare;

}  // namespace

HEDDLE_OMP_ENTRY bool GOMP_single_start() { return takes_single(thread::current(), __builtin_return_address(0)); }

// Returns null if the caller executes the construct; the caller ends it with the data that the others copy.
HEDDLE_OMP_ENTRY void* GOMP_single_copy_start() {
  thread& self = thread::current();
  if (takes_single(self, __builtin_return_address(0))) return nullptr;
  ompt::barrier(self, of_workshare, __builtin_return_address(0));
  return self.in->copied.load();
}
HEDDLE_OMP_ENTRY void GOMP_single_copy_end(void* data) {
  thread& self = thread::current();
  self.in->copied.store(data);
  ompt::barrier(self, of_workshare, __builtin_return_address(0));
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

HEDDLE_OMP_ENTRY void GOMP_critical_start() {
  ompt::take([] { unnamed.lock(); }, ompt_mutex_critical, &unnamed, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void GOMP_critical_end() {
  ompt::release([] { unnamed.unlock(); }, ompt_mutex_critical, &unnamed, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void GOMP_critical_name_start(void** name) {
  ompt::take([name] { lock_at(name).lock(); }, ompt_mutex_critical, name, __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY void GOMP_critical_name_end(void** name) {
  ompt::release([name] { lock_at(name).unlock(); }, ompt_mutex_critical, name, __builtin_return_address(0));
}

HEDDLE_OMP_ENTRY bool GOMP_cancellation_point(int which) {
  return ompt::is_cancelled(thread::current(), kind_of(which), __builtin_return_address(0));
}
HEDDLE_OMP_ENTRY bool GOMP_cancel(int which, bool now) {
  thread& self = thread::current();
  if (!now) return ompt::is_cancelled(self, kind_of(which), __builtin_return_address(0));
  return ompt::cancel(self, kind_of(which), __builtin_return_address(0));
}
