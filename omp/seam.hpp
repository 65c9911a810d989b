// All that omp/ uses of heddle beyond <heddle/*.hpp>: the internal seam of docs/decisions/0012-openmp.md. Nothing else
// of omp/ includes <heddle/detail/*> or a header of src/.
#pragma once

#include <heddle/detail/current.hpp>
#include <heddle/detail/machine_facts.hpp>
#include <heddle/detail/spin_word.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/pause.hpp>
#include <heddle/preemption.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>
#include <heddle/thread_slot.hpp>

namespace heddle::omp {

class thread;

// The OpenMP thread that calls: of a user-level thread or of a foreign kernel thread.
inline constexpr heddle::thread_slot<thread> current_slot{heddle::detail::slot_of_openmp};

}  // namespace heddle::omp
