// Functions by which a library built on heddle tells the runtime about kernel threads that the runtime does not know.
#pragma once

#include <heddle/export.hpp>
#include <heddle/runtime.hpp>

namespace heddle::detail {

// Says that kernel threads other than workers compute beside this runtime's workers, and that there are not enough
// processors for all. From then on the runtime counts as `crowded`, like one with more workers than processors: a
// worker that looks for work yields its processor after each look. Thread context: any.
HEDDLE_API void crowd(runtime& home) noexcept;

// Tells that the calling user-level thread's worker shares its processor with such a kernel thread. If another worker
// sleeps, it is woken and the calling thread continues there; if it does not come within some time, the thread
// continues here. Returns false if no worker sleeps or if the thread may not move (pinned, in a gang, of a priority
// level, packed, placed by its policy, or the call of a foreign kernel thread that has a worker for it). Thread
// context: any; returns false on a foreign kernel thread.
HEDDLE_API bool go_elsewhere() noexcept;

}  // namespace heddle::detail
