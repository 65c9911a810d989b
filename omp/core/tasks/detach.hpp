// Tasks that end only when an event is fulfilled, too (detach clause; proxy tasks of the LLVM ABI).
#pragma once

#include "omp/core/tasks/task.hpp"

namespace heddle::omp {

// Bits of explicit_task::event, [omp_task:9]. The task's own thread sets all but `fulfilled`.
namespace event_bits {
inline constexpr std::uint8_t body_over = 1;  // the thread that fulfils the event does the rest
inline constexpr std::uint8_t fulfilled = 2;
inline constexpr std::uint8_t not_begun = 4;  // it was cancelled before it began
// It has ended without its event, which still holds the block.
inline constexpr std::uint8_t discarded = 8;
}  // namespace event_bits

// Called at the end of the body of a task that is counted. Returns true if the event was fulfilled before; the caller
// then ends the task. If false, the task may be gone.
[[nodiscard]] bool body_ends(explicit_task& it) noexcept;
// Called when a task that was cancelled before it began ends without its event. Returns true if the event was fulfilled
// before, and holds nothing of the task. If false, the block is the event's, and goes with its fulfilment, if that ever
// comes.
[[nodiscard]] bool is_discarded(explicit_task& it) noexcept;

// Does the rest of a task whose body is over. Called by the thread that fulfils its event.
void end_outside(explicit_task& it) noexcept;

// Releases the block of a task that has ended. Called by the thread that fulfils its event.
void release_block(explicit_task& it) noexcept;

// omp_fulfill_event. May be called by any thread, of any kind; once for each event.
void fulfil(explicit_task& it) noexcept;

}  // namespace heddle::omp
