// An atomic region for which gcc has no instruction is code between these two calls.
#include <heddle/export.hpp>
#include <heddle/mutex.hpp>

#include "omp/core/locks/atomic.hpp"
#include "omp/ompt/mutexes.hpp"

using heddle::omp::atomics::lock_of_regions;
namespace ompt = heddle::omp::ompt;

extern "C" {
HEDDLE_API void GOMP_atomic_start() {
  ompt::take([] { lock_of_regions().lock(); }, ompt_mutex_atomic, &lock_of_regions(), __builtin_return_address(0));
}
HEDDLE_API void GOMP_atomic_end() {
  ompt::release([] { lock_of_regions().unlock(); }, ompt_mutex_atomic, &lock_of_regions(), __builtin_return_address(0));
}
}
