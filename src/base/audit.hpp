// Audit builds abort in two places: where the runtime, on a kernel thread that has a worker, waits for something that a
// preempted thread may hold; and where preemptible code takes something that the runtime waits for. Other builds do
// nothing here. The argument: [preempt:4] and [preempt:6] of src/worker/preemption/preemption.md.
#pragma once

#include "base/contracts.hpp"

namespace heddle::base {

#if defined(HEDDLE_AUDIT) && !defined(HEDDLE_SIM) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEDDLE_AUDITS_MALLOC 1
inline constexpr bool audits_malloc = true;

// forbid says that the calling kernel thread runs the runtime's code with a worker from here on (`doing` names the
// code), and the C library's allocation functions abort there. allow says that it runs other code, or none. forbid has
// an effect only once preemption is used. The functions are out of line because the caller may have changed kernel
// threads.
void forbid_malloc(const char* doing) noexcept;
void allow_malloc() noexcept;
#else
inline constexpr bool audits_malloc = false;
inline void forbid_malloc(const char*) noexcept {}
inline void allow_malloc() noexcept {}
#endif

#if defined(HEDDLE_AUDIT)
// Says that preemptive threads may hold malloc's locks while they are suspended from now on. `may_be_preempted` tells
// whether a tick could suspend the code that the calling kernel thread runs.
void preemption_is_used(bool (*may_be_preempted)() noexcept) noexcept;
// Called when a lock of the runtime is about to be taken. Aborts if the holder could be suspended while it holds the
// lock.
void lock_is_taken(const char* which) noexcept;
#else
inline void preemption_is_used(bool (*)() noexcept) noexcept {}
inline void lock_is_taken(const char*) noexcept {}
#endif

}  // namespace heddle::base
