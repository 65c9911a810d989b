// Residents: user-level threads that a library built on heddle keeps for later use, and that wait meanwhile. They do
// not keep a runtime alive: when no other thread is left, the runtime's destructor tells the library to end them.
#pragma once

#include <heddle/export.hpp>
#include <heddle/runtime.hpp>

namespace heddle::detail {

// Counts a thread of `home` as a resident, or no longer. The first call comes after the thread was made, and the second
// one before it is told to end. Thread context: any.
HEDDLE_API void count_resident(runtime& home) noexcept;
HEDDLE_API void count_out_resident(runtime& home) noexcept;

// end(home) ends all residents of `home` and returns when they have ended. The destructor of `home` calls it when no
// other thread of that runtime is alive, on the thread that destroys it. One library can be told.
HEDDLE_API void end_residents_by(void (*end)(runtime& home) noexcept) noexcept;

}  // namespace heddle::detail
