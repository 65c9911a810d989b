// The stack on which a caller of any kind is.
#pragma once

#include "platform/platform.hpp"

namespace heddle::worker {

// If the address, which is on the caller's stack, is on that of a user-level thread: tells where that stack lies.
// Returns false if it is a kernel thread's. The call is not async-signal-safe.
bool find_stack_in_use(const void* address, platform::stack_range& found) noexcept;

}  // namespace heddle::worker
