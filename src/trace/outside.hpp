// What kernel threads outside of the workers did.
#pragma once

#include "trace/recording.hpp"

namespace heddle::trace {

// Puts the records and texts of `other`, a recording of no workers, into the log of foreign threads.
void add_outside(recording& into, const recording& other);

}  // namespace heddle::trace
