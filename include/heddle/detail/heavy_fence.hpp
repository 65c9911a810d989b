// The expensive half of an asymmetric fence, for libraries above heddle.
#pragma once

#include <heddle/export.hpp>

namespace heddle::detail {

// A full fence executed by every running kernel thread of the process ([platform:3]). Microseconds.
HEDDLE_API void heavy_fence() noexcept;

}  // namespace heddle::detail
