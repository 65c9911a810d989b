// What a library built on heddle knows of kernel threads that a runtime does not know.
#pragma once

#include <heddle/export.hpp>
#include <heddle/runtime.hpp>

namespace heddle::detail {

// Kernel threads that are no workers compute beside this runtime's, and there are not enough processors for all. From
// now on it is `crowded`, as one with more workers than processors is: a worker that looks for work gives its processor
// away after each look. Thread context: any.
HEDDLE_API void crowd(runtime& home) noexcept;

// The calling user-level thread's worker shares its processor with such a kernel thread. If another worker sleeps, that
// one is woken, and the thread goes on there, or here if that one does not come within some time. False: nobody sleeps,
// or the thread is not free to go (pinned, in a gang, of a level, packed, placed by its policy, the call of a foreign
// kernel thread that has a worker for it). Thread context: any; false on a foreign kernel thread.
HEDDLE_API bool go_elsewhere() noexcept;

}  // namespace heddle::detail
