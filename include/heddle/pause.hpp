/// A turn of a loop that waits for another worker without giving up this one.
#pragma once

#include <heddle/export.hpp>

extern "C" HEDDLE_API void heddle_pause() noexcept;

namespace heddle::this_thread {

/// To be called in each turn of a loop that looks at memory until another worker has written
/// it. The processor's pause instruction; in a simulated run time passes, and whoever comes
/// earlier goes on: without it such a loop never ends there. Never suspends. Any thread.
inline void pause() noexcept { heddle_pause(); }

}  // namespace heddle::this_thread
