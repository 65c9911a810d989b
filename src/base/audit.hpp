// Audit builds abort in two places: where the runtime, on a kernel thread that has a worker, waits for what a preempted
// thread may hold; and where preemptible code takes what the runtime waits for. Does nothing in other builds. The
// argument: [preempt:4] and [preempt:6] of src/worker/preemption/preemption.md.
#pragma once

#include "base/contracts.hpp"

namespace heddle::base {

#if defined(HEDDLE_AUDIT) && !defined(HEDDLE_SIM) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEDDLE_AUDITS_MALLOC 1
inline constexpr bool audits_malloc = true;

// forbid: from here on the calling kernel thread runs the runtime's code with a worker (`doing` says which), and the C
// library's allocation functions abort there. allow: from here on it runs somebody else's code, or none. forbid has an
// effect only once preemption is used. Out of line, since the caller may have changed kernel threads.
void forbid_malloc(const char* doing) noexcept;
void allow_malloc() noexcept;
#else
inline constexpr bool audits_malloc = false;
inline void forbid_malloc(const char*) noexcept {}
inline void allow_malloc() noexcept {}
#endif

#if defined(HEDDLE_AUDIT)
// From now on preemptive threads may hold malloc's locks while they are suspended. `may_be_preempted` tells whether a
// tick that came to the calling kernel thread now could suspend what it runs.
void preemption_is_used(bool (*may_be_preempted)() noexcept) noexcept;
// A lock of the runtime is about to be taken: aborts where the holder could be suspended with it.
void lock_is_taken(const char* which) noexcept;
#else
inline void preemption_is_used(bool (*)() noexcept) noexcept {}
inline void lock_is_taken(const char*) noexcept {}
#endif

}  // namespace heddle::base
