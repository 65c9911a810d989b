// What the process was started with: the OMP_*, KMP_* and GOMP_* variables, read once.
#pragma once

#include <chrono>
#include <cstddef>

#include "omp/core/icv.hpp"

namespace heddle::omp {

// Those of an initial thread's data environment.
const control_variables& initial_variables() noexcept;

// How long a thread that waits looks again and again before it sleeps (OMP_WAIT_POLICY, KMP_BLOCKTIME, GOMP_SPINCOUNT).
std::chrono::nanoseconds spin_time() noexcept;

// Of the members' stacks, in bytes (OMP_STACKSIZE, KMP_STACKSIZE, GOMP_STACKSIZE).
std::size_t stack_size() noexcept;

// OMP_MAX_TASK_PRIORITY
int largest_priority() noexcept;

// OMP_CANCELLATION
bool may_cancel() noexcept;

// HEDDLE_OMP_PREEMPT: whether members of teams are preemptive. automatic: those that might find no worker of their own.
enum class preempt_members { automatic, on, off };
preempt_members preempting() noexcept;

}  // namespace heddle::omp
