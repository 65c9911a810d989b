// Audit builds abort where the runtime waits, on a kernel thread that has a worker, for
// what a preempted thread may hold, and where preemptible code takes what the runtime
// waits for. Nothing in other builds. The argument: src/worker/README.md, S4 and S6.
#pragma once

#include "base/contracts.hpp"

namespace heddle::base {

#if defined(HEDDLE_AUDIT) && !defined(HEDDLE_SIM) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEDDLE_AUDITS_MALLOC 1
inline constexpr bool audits_malloc = true;

// Of the calling kernel thread, out of line because the caller may have changed kernel threads: from here on it runs
// the runtime's code (`doing`) with a worker, and the C library's allocation functions abort; or somebody else's code,
// or nobody's. The first says so only once preemption is used.
void forbid_malloc(const char* doing) noexcept;
void allow_malloc() noexcept;
#else
inline constexpr bool audits_malloc = false;
inline void forbid_malloc(const char*) noexcept {}
inline void allow_malloc() noexcept {}
#endif

#if defined(HEDDLE_AUDIT)
// From now on preemptive threads may hold malloc's locks while they are suspended. `may_be_preempted`: a tick that came
// to the calling kernel thread now could suspend what it runs.
void preemption_is_used(bool (*may_be_preempted)() noexcept) noexcept;
// A lock of the runtime is about to be taken: aborts where the holder could be suspended with it.
void lock_is_taken(const char* which) noexcept;
#else
inline void preemption_is_used(bool (*)() noexcept) noexcept {}
inline void lock_is_taken(const char*) noexcept {}
#endif

}  // namespace heddle::base
