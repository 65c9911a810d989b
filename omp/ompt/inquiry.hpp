// What a tool may ask for.
#pragma once

#include "omp/ompt/omp-tools.h"

namespace heddle::omp::ompt {

// A function of the interface by its name; null: there is none of that name.
ompt_interface_fn_t lookup(const char* name);

}  // namespace heddle::omp::ompt
