// The kind of user-level thread that the members of teams are: with thread-local storage of their own, if that is
// available.
#pragma once

#include "omp/seam.hpp"

namespace heddle::omp {

// Each kind offers less than the one before it. Sanitizers and unknown C libraries allow no storage of a thread's own;
// ThreadSanitizer allows no preemption either.
enum class member_kind : int {
  own_storage,       // preempted by signal-yield
  carriers_storage,  // preempted by KLT-switching, which suits code that uses its carrier's storage
  not_preempted,
};

// Sets storage and preemption of a member's options to the best kind that has not been found impossible. Returns that
// kind.
member_kind set_kind(heddle::thread_options& options, bool preemptive) noexcept;

// Whether members can be made that are preempted.
bool members_can_be_preempted() noexcept;

// Called if a member of the kind `tried` cannot be made here; `why` is the reason. Returns true if the next one will be
// of a lesser kind, which has been reported once; false if there is no lesser kind.
bool settle_for_less(member_kind tried, const char* why) noexcept;

}  // namespace heddle::omp
