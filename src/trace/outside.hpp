// The log of kernel threads outside the workers.
#pragma once

#include "trace/recording.hpp"

namespace heddle::trace {

// Adds the records and texts of `other`, a recording without workers, to the log of foreign threads.
void add_outside(recording& into, const recording& other);

}  // namespace heddle::trace
