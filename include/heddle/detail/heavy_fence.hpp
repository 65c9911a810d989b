// The expensive half of an asymmetric fence, for libraries above heddle.
#pragma once

#include <heddle/export.hpp>

namespace heddle::detail {

// Makes every running kernel thread of the process execute a full fence ([platform:3]). It takes microseconds.
HEDDLE_API void heavy_fence() noexcept;

}  // namespace heddle::detail
