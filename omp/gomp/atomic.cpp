// Atomic regions that gcc has no instruction for are code between these two.
#include <heddle/export.hpp>
#include <heddle/mutex.hpp>

#include "omp/core/atomic.hpp"

extern "C" {
HEDDLE_API void GOMP_atomic_start() { heddle::omp::atomics::lock_of_regions().lock(); }
HEDDLE_API void GOMP_atomic_end() { heddle::omp::atomics::lock_of_regions().unlock(); }
}
