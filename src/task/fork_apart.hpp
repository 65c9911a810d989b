// Forks whose second half a policy has made a task of its own: the
// slow path of a fork under policies that want every fork.
#pragma once

#include <heddle/detail/fork_queue.hpp>

#include "worker/worker.hpp"

namespace heddle::detail {

// What the fork's join gets for a position: no queue holds the job there.
inline const ticket apart_ticket = reinterpret_cast<ticket>(std::uintptr_t{2});

// The job at `position`, bottom above it, is shown to the policy. Null: it stays
// where it is, and the caller goes on with its push. Else the second half is a thread
// of its own; it may have run already, and the caller may be on another worker.
[[nodiscard]] ticket fork_apart(worker::worker& self, slot* position, double first, double second,
                                std::size_t bytes) noexcept;

// The second half, which the policy has a part in, has ended, and its owner does not know of it yet.
void end_half(worker::worker& self, fiber::schedulable& half) noexcept;

// The join of such a fork, before and after the second half's end. end_apart may move the calling thread.
void wait_apart() noexcept;
void end_apart() noexcept;

}  // namespace heddle::detail
