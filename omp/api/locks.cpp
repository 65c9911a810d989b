// omp_*_lock (OpenMP 5.1, section 3.9) and the LLVM ABI's names for them. Hints are hints: there is one kind of lock.
#include <new>

#include "omp/api/api.hpp"
#include "omp/core/environment.hpp"
#include "omp/core/lock.hpp"
#include "omp/core/thread.hpp"

using heddle::omp::nest_lock;
using heddle::omp::word_lock;

namespace {

word_lock& simple(void* lock) noexcept { return *static_cast<word_lock*>(lock); }
nest_lock& nested(void* lock) noexcept { return **static_cast<nest_lock**>(lock); }
const heddle::omp::task* caller() noexcept { return heddle::omp::thread::current().running; }

}  // namespace

extern "C" {

void omp_init_lock(void* lock) { new (lock) word_lock; }
void omp_init_lock_with_hint(void* lock, int) { new (lock) word_lock; }
void omp_destroy_lock(void*) {}
void omp_set_lock(void* lock) { simple(lock).lock(); }
void omp_unset_lock(void* lock) { simple(lock).unlock(); }
int omp_test_lock(void* lock) { return simple(lock).try_lock() ? 1 : 0; }

void omp_init_nest_lock(void* lock) { *static_cast<nest_lock**>(lock) = new nest_lock; }
void omp_init_nest_lock_with_hint(void* lock, int) { omp_init_nest_lock(lock); }
void omp_destroy_nest_lock(void* lock) {
  delete *static_cast<nest_lock**>(lock);
  *static_cast<nest_lock**>(lock) = nullptr;
}
void omp_set_nest_lock(void* lock) { nested(lock).lock(caller()); }
void omp_unset_nest_lock(void* lock) { nested(lock).unlock(); }
int omp_test_nest_lock(void* lock) { return nested(lock).try_lock(caller()); }

// The LLVM ABI's: with the place in the source and the thread's number before.
HEDDLE_API void __kmpc_init_lock(void*, int, void** lock) { omp_init_lock(lock); }
HEDDLE_API void __kmpc_init_lock_with_hint(void*, int, void** lock, std::uintptr_t) { omp_init_lock(lock); }
HEDDLE_API void __kmpc_destroy_lock(void*, int, void** lock) { omp_destroy_lock(lock); }
HEDDLE_API void __kmpc_set_lock(void*, int, void** lock) { omp_set_lock(lock); }
HEDDLE_API void __kmpc_unset_lock(void*, int, void** lock) { omp_unset_lock(lock); }
HEDDLE_API int __kmpc_test_lock(void*, int, void** lock) { return omp_test_lock(lock); }
HEDDLE_API void __kmpc_init_nest_lock(void*, int, void** lock) { omp_init_nest_lock(lock); }
HEDDLE_API void __kmpc_init_nest_lock_with_hint(void*, int, void** lock, std::uintptr_t) { omp_init_nest_lock(lock); }
HEDDLE_API void __kmpc_destroy_nest_lock(void*, int, void** lock) { omp_destroy_nest_lock(lock); }
HEDDLE_API void __kmpc_set_nest_lock(void*, int, void** lock) { omp_set_nest_lock(lock); }
HEDDLE_API void __kmpc_unset_nest_lock(void*, int, void** lock) { omp_unset_nest_lock(lock); }
HEDDLE_API int __kmpc_test_nest_lock(void*, int, void** lock) { return omp_test_nest_lock(lock); }

}  // extern "C"
