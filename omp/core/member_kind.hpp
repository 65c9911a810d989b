// What kind of user-level thread the members of teams are: with thread-local storage of their own, if that can be had.
#pragma once

#include "omp/seam.hpp"

namespace heddle::omp {

// Sets storage and preemption of a member's options.
void set_kind(heddle::thread_options& options, bool preemptive) noexcept;

// A member of that kind cannot be made here, for the reason `why`. True: the next one will be of a lesser kind, which
// has been said once; false: there is no lesser one.
bool settle_for_less(const char* why) noexcept;

}  // namespace heddle::omp
