// Forks whose second half a policy has made a task of its own: the
// slow path of a fork under policies that want every fork.
#pragma once

#include <heddle/detail/fork_queue.hpp>

#include "worker/worker.hpp"

namespace heddle::detail {

// What the join of such a fork gets in place of a position: no queue holds the job.
inline const ticket apart_ticket = reinterpret_cast<ticket>(std::uintptr_t{2});

// Shows the fork whose job has just been stored at `position` to the policy. Null: the job stays where it is, and the
// caller goes on with its push. `position`: a thief has it meanwhile; an ordinary fork. apart_ticket: the second half
// is a thread of its own; it may have run already, and the caller may be on another worker.
[[nodiscard]] ticket fork_apart(worker::worker& self, slot* position, double first, double second,
                                std::size_t bytes) noexcept;

// Tells the policy that a second half that is a task of its own has ended. Called before the half's owner can go on.
void end_half(worker::worker& self, worker::thread& half) noexcept;

// Called by the join of such a fork: before it waits for the second half, and after that has ended. end_apart may
// migrate the calling thread.
void wait_apart() noexcept;
void end_apart(const job& work) noexcept;

}  // namespace heddle::detail
