// What the explorer of interleavings (sim/README.md) has to know of the floors above, and they of it. Nothing on a real
// platform.
#pragma once

#include "platform/platform.hpp"

namespace heddle::platform {

#if defined(HEDDLE_SIM)
// Whether every fork and every join has to take its slow path: there their time is charged. Not in some of the
// schedules that are explored, which leave the fast paths as they are. The same throughout a run.
bool watches_forks() noexcept;

// Called where nobody is on the way to anything: every kernel thread sleeps, or waits in code of the user's.
// `is_broken`: a worker of that runtime sleeps, while there is something that it may take ([greed:1]). It may read what
// it likes, and must neither charge nor wait.
void promise_greed(const void* runtime, bool (*is_broken)(const void* runtime));
#else
constexpr bool watches_forks() noexcept { return false; }
inline void promise_greed(const void*, bool (*)(const void*)) {}
#endif

}  // namespace heddle::platform
