// What a library built on heddle knows of kernel threads that a runtime does not know.
#pragma once

#include <heddle/export.hpp>
#include <heddle/runtime.hpp>

namespace heddle::detail {

// Kernel threads that are no workers compute beside this runtime's, and there are not enough processors for all. From
// now on it is `crowded`, as one with more workers than processors is: a worker that looks for work gives its processor
// away after each look. Thread context: any.
HEDDLE_API void crowd(runtime& home) noexcept;

}  // namespace heddle::detail
