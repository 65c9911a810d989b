// The functions for which a tool may ask.
#pragma once

#include "omp/ompt/omp-tools.h"

namespace heddle::omp::ompt {

// The function of the interface with that name; null if there is none.
ompt_interface_fn_t lookup(const char* name);

}  // namespace heddle::omp::ompt
