// Tasks that end when an event is fulfilled, too (detach clause; proxy tasks of the LLVM ABI).
#pragma once

#include "omp/core/task.hpp"

namespace heddle::omp {

class thread;

// Bits of explicit_task::event, [omp_task:9]. Set by the task's own thread but for `fulfilled` and `let_go`.
namespace event_bits {
inline constexpr std::uint8_t body_over = 1;  // the rest is done by who fulfils the event
inline constexpr std::uint8_t fulfilled = 2;
inline constexpr std::uint8_t awaited = 4;  // an included one: its thread waits for let_go
inline constexpr std::uint8_t let_go = 8;
}  // namespace event_bits

// At the end of the body of a deferred task; true: the event was fulfilled before, and the caller ends the task. False:
// it may be gone.
[[nodiscard]] bool body_ends(explicit_task& it) noexcept;
// The same for an included one: returns when the event is fulfilled.
void await_event(thread& self, explicit_task& it);

// The rest of a deferred task whose body is over, by who fulfils its event.
void end_outside(explicit_task& it) noexcept;

// omp_fulfill_event. Any thread, of any kind; once for each event.
void fulfil(explicit_task& it) noexcept;

}  // namespace heddle::omp
