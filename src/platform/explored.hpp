// The seam between the explorer of interleavings (sim/README.md) and the floors above. It is empty on a real platform.
#pragma once

#include "platform/platform.hpp"

namespace heddle::platform {

#if defined(HEDDLE_SIM)
// Returns true if every fork and every join must take its slow path, where its time is charged. Some of the explored
// schedules leave the fast paths as they are, and it returns false there. The answer is the same throughout a run.
bool watches_forks() noexcept;

// `is_broken` is called at moments when no kernel thread is on its way to work: each sleeps, or waits in code of the
// user's. It returns true if a worker of that runtime sleeps while there is work that it may take ([greed:1]). It may
// read any state, and must neither charge nor wait.
void promise_greed(const void* runtime, bool (*is_broken)(const void* runtime));
#else
constexpr bool watches_forks() noexcept { return false; }
inline void promise_greed(const void*, bool (*)(const void*)) {}
#endif

}  // namespace heddle::platform
