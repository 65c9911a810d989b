// Tasks that end when an event is fulfilled, too (detach clause; proxy tasks of the LLVM ABI).
#pragma once

#include "omp/core/tasks/task.hpp"

namespace heddle::omp {

// Bits of explicit_task::event, [omp_task:9]. Set by the task's own thread but for `fulfilled`.
namespace event_bits {
inline constexpr std::uint8_t body_over = 1;  // the rest is done by who fulfils the event
inline constexpr std::uint8_t fulfilled = 2;
inline constexpr std::uint8_t not_begun = 4;  // it was cancelled before it began
inline constexpr std::uint8_t discarded = 8;  // it has ended without its event, which still holds the block
}  // namespace event_bits

// At the end of the body of a task that is counted; true: the event was fulfilled before, and the caller ends the task.
// False: it may be gone.
[[nodiscard]] bool body_ends(explicit_task& it) noexcept;
// A task that was cancelled before it began ends without its event. True: the event was fulfilled before, and holds
// nothing of it. False: the block is the event's, and goes with its fulfilment, if that ever comes.
[[nodiscard]] bool is_discarded(explicit_task& it) noexcept;

// The rest of a task whose body is over, by who fulfils its event.
void end_outside(explicit_task& it) noexcept;

// The block of a task that has ended, by who fulfils its event.
void release_block(explicit_task& it) noexcept;

// omp_fulfill_event. Any thread, of any kind; once for each event.
void fulfil(explicit_task& it) noexcept;

}  // namespace heddle::omp
