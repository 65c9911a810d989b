// For the protocols between workers: what nearly half of their sources reach, and what they change with in any case.
#include "library.hpp"

#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
