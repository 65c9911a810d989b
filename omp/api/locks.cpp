// omp_*_lock (OpenMP 5.1, section 3.9) and the LLVM ABI's names for them. Hints have no effect, because there is one
// kind of lock.
#include <new>

#include "omp/api/api.hpp"
#include "omp/core/locks/lock.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/thread.hpp"
#include "omp/ompt/mutexes.hpp"

using heddle::omp::nest_lock;
using heddle::omp::word_lock;
namespace ompt = heddle::omp::ompt;

namespace {

word_lock& simple(void* lock) noexcept { return *static_cast<word_lock*>(lock); }
nest_lock& nested(void* lock) noexcept { return **static_cast<nest_lock**>(lock); }
const heddle::omp::task* caller() noexcept { return heddle::omp::thread::current().running; }

// Each function tells its events; `code` is the place where the program called.

void init(void* lock, unsigned hint, const void* code) {
  new (lock) word_lock;
  if (ompt::on()) [[unlikely]]
    ompt::exclusion_events(ompt_mutex_lock, lock, code, hint).made();
}

void destroy(void* lock, const void* code) {
  if (ompt::on()) [[unlikely]]
    ompt::exclusion_events(ompt_mutex_lock, lock, code).destroyed();
}

void set(void* lock, const void* code) {
  ompt::take([lock] { simple(lock).lock(); }, ompt_mutex_lock, lock, code);
}

void unset(void* lock, const void* code) {
  ompt::release([lock] { simple(lock).unlock(); }, ompt_mutex_lock, lock, code);
}

int test(void* lock, const void* code) {
  if (!ompt::on()) [[likely]]
    return simple(lock).try_lock() ? 1 : 0;
  const ompt::exclusion_events events(ompt_mutex_test_lock, lock, code);
  const ompt::inside here(heddle::omp::thread::current());
  events.wanted();
  const bool got = simple(lock).try_lock();
  if (got) events.got();
  return got ? 1 : 0;
}

void init_nested(void* lock, unsigned hint, const void* code) {
  *static_cast<nest_lock**>(lock) = new nest_lock;
  if (ompt::on()) [[unlikely]]
    ompt::exclusion_events(ompt_mutex_nest_lock, lock, code, hint).made();
}

void destroy_nested(void* lock, const void* code) {
  if (ompt::on()) [[unlikely]]
    ompt::exclusion_events(ompt_mutex_nest_lock, lock, code).destroyed();
  delete *static_cast<nest_lock**>(lock);
  *static_cast<nest_lock**>(lock) = nullptr;
}

// Only the first of a task's acquisitions takes the lock; the others are nested. `get` returns the depth after it.
template <class Get>
int tell_nested(ompt_mutex_t kind, const void* lock, const void* code, Get get) {
  heddle::omp::thread& self = heddle::omp::thread::current();
  const ompt::exclusion_events events(kind, lock, code);
  const ompt::inside here(self);
  const ompt::in_state waiting(self, ompt_state_wait_lock, reinterpret_cast<ompt_wait_id_t>(lock));
  events.wanted();
  const int depth = get();
  if (depth == 1) events.got();
  else if (depth > 1) events.nested(ompt_scope_begin);
  return depth;
}

void set_nested(void* lock, const void* code) {
  if (ompt::on()) [[unlikely]]
    tell_nested(ompt_mutex_nest_lock, lock, code, [lock] { return nested(lock).lock(caller()); });
  else nested(lock).lock(caller());
}

int test_nested(void* lock, const void* code) {
  if (ompt::on()) [[unlikely]]
    return tell_nested(ompt_mutex_test_nest_lock, lock, code, [lock] { return nested(lock).try_lock(caller()); });
  return nested(lock).try_lock(caller());
}

void unset_nested(void* lock, const void* code) {
  const int depth = nested(lock).unlock();
  if (!ompt::on()) [[likely]]
    return;
  const ompt::exclusion_events events(ompt_mutex_nest_lock, lock, code);
  const ompt::inside here(heddle::omp::thread::current());
  depth == 0 ? events.released() : events.nested(ompt_scope_end);
}

}  // namespace

extern "C" {

void omp_init_lock(void* lock) { init(lock, 0, __builtin_return_address(0)); }
void omp_init_lock_with_hint(void* lock, int hint) {
  init(lock, static_cast<unsigned>(hint), __builtin_return_address(0));
}
void omp_destroy_lock(void* lock) { destroy(lock, __builtin_return_address(0)); }
void omp_set_lock(void* lock) { set(lock, __builtin_return_address(0)); }
void omp_unset_lock(void* lock) { unset(lock, __builtin_return_address(0)); }
int omp_test_lock(void* lock) { return test(lock, __builtin_return_address(0)); }

void omp_init_nest_lock(void* lock) { init_nested(lock, 0, __builtin_return_address(0)); }
void omp_init_nest_lock_with_hint(void* lock, int hint) {
  init_nested(lock, static_cast<unsigned>(hint), __builtin_return_address(0));
}
void omp_destroy_nest_lock(void* lock) { destroy_nested(lock, __builtin_return_address(0)); }
void omp_set_nest_lock(void* lock) { set_nested(lock, __builtin_return_address(0)); }
void omp_unset_nest_lock(void* lock) { unset_nested(lock, __builtin_return_address(0)); }
int omp_test_nest_lock(void* lock) { return test_nested(lock, __builtin_return_address(0)); }

// The functions of the LLVM ABI, with the place in the source and the thread's number in front.
HEDDLE_API void __kmpc_init_lock(void*, int, void** lock) { init(lock, 0, __builtin_return_address(0)); }
HEDDLE_API void __kmpc_init_lock_with_hint(void*, int, void** lock, std::uintptr_t hint) {
  init(lock, static_cast<unsigned>(hint), __builtin_return_address(0));
}
HEDDLE_API void __kmpc_destroy_lock(void*, int, void** lock) { destroy(lock, __builtin_return_address(0)); }
HEDDLE_API void __kmpc_set_lock(void*, int, void** lock) { set(lock, __builtin_return_address(0)); }
HEDDLE_API void __kmpc_unset_lock(void*, int, void** lock) { unset(lock, __builtin_return_address(0)); }
HEDDLE_API int __kmpc_test_lock(void*, int, void** lock) { return test(lock, __builtin_return_address(0)); }

HEDDLE_API void __kmpc_init_nest_lock(void*, int, void** lock) { init_nested(lock, 0, __builtin_return_address(0)); }
HEDDLE_API void __kmpc_init_nest_lock_with_hint(void*, int, void** lock, std::uintptr_t hint) {
  init_nested(lock, static_cast<unsigned>(hint), __builtin_return_address(0));
}
HEDDLE_API void __kmpc_destroy_nest_lock(void*, int, void** lock) { destroy_nested(lock, __builtin_return_address(0)); }
HEDDLE_API void __kmpc_set_nest_lock(void*, int, void** lock) { set_nested(lock, __builtin_return_address(0)); }
HEDDLE_API void __kmpc_unset_nest_lock(void*, int, void** lock) { unset_nested(lock, __builtin_return_address(0)); }
HEDDLE_API int __kmpc_test_nest_lock(void*, int, void** lock) { return test_nested(lock, __builtin_return_address(0)); }

}  // extern "C"
