// Everything that omp/ uses of heddle beyond <heddle/*.hpp>: the internal seam of docs/decisions/0012-openmp.md. No
// other file of omp/ includes <heddle/detail/*> or a header of src/.
#pragma once

#include <heddle/detail/crowd.hpp>
#include <heddle/detail/current.hpp>
#include <heddle/detail/gang.hpp>
#include <heddle/detail/heavy_fence.hpp>
#include <heddle/detail/machine_facts.hpp>
#include <heddle/detail/placed_task.hpp>
#include <heddle/detail/trace_lane.hpp>
#include <heddle/detail/wait.hpp>
#include <heddle/pause.hpp>
#include <heddle/preemption.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>
#include <heddle/thread_slot.hpp>

#include "base/random.hpp"
#include "fiber/preemptible.hpp"
#include "queue/fork_queue.hpp"
#include "trace/events.hpp"

// An entry point of either ABI, or a function of omp.h.
#define HEDDLE_OMP_ENTRY extern "C" __attribute__((visibility("default")))

namespace heddle::omp {

class thread;

// The calling OpenMP thread, for user-level and foreign kernel threads.
inline constexpr heddle::thread_slot<thread> current_slot{heddle::detail::slot_of_openmp};

// Whether the caller is a user-level thread, whichever runtime it belongs to.
inline bool is_user_level() noexcept { return heddle::detail::current_queue() != nullptr; }

// Whether the current queue is that of a thread with storage of its own (as members of teams have) whose own code runs,
// and not the runtime's nor the border between the two.
inline bool runs_own_code(const heddle::detail::fork_queue* current) noexcept {
  if (current->stands_for == nullptr) return false;
  // relaxed: written on this kernel thread
  return !static_cast<const fiber::preemptible*>(current)->off.load(std::memory_order_relaxed);
}

// Binds the descriptor of a user-level thread that the program made itself, which no scope here encloses. It stays
// bound when that thread has ended. The next thread that has the block goes on with the descriptor, which is that of an
// initial thread outside of all regions ("Descriptors" in README.md).
inline void bind_for_good(thread& t) noexcept {
  if (!current_slot.keep(&t)) heddle::detail::slots_here()[heddle::detail::slot_of_openmp.number] = &t;
}

}  // namespace heddle::omp
