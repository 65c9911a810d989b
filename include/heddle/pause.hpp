/// The pause of a loop that waits for another worker without giving up its own.
#pragma once

#include <heddle/export.hpp>

extern "C" HEDDLE_API void heddle_pause() noexcept;

namespace heddle::this_thread {

/// Must be called in each turn of a loop that reads memory until another worker has written it. It is the processor's
/// pause instruction. In a simulated run it lets time pass, so that other workers go on; without it such a loop never
/// ends there. Thread context: any; never suspends.
inline void pause() noexcept { heddle_pause(); }

}  // namespace heddle::this_thread
