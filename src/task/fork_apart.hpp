// Forks whose second half a policy has made a task of its own: the slow path of a fork under policies that watch every
// fork.
#pragma once

#include <heddle/detail/fork_queue.hpp>

#include "worker/worker.hpp"

namespace heddle::detail {

// The ticket that the join of such a fork gets, because no queue holds the job.
inline const ticket apart_ticket = reinterpret_cast<ticket>(std::uintptr_t{2});

// Shows the policy the fork whose job has just been stored at `position`. Returns null if the job stays where it is;
// the caller then goes on with its push. Returns `position` if a thief has the job meanwhile, so that the fork is an
// ordinary one. Returns apart_ticket if the second half is a thread of its own; it may have run already, and the caller
// may be on another worker.
[[nodiscard]] ticket fork_apart(worker::worker& self, slot* position, double first, double second,
                                std::size_t bytes) noexcept;

// Tells the policy that a second half that is a task of its own has ended. It is called before the half's owner can go
// on.
void end_half(worker::worker& self, worker::thread& half) noexcept;

// Called by the join of such a fork: before it waits for the second half, and after the second half has ended.
// end_apart may migrate the calling thread.
void wait_apart() noexcept;
void end_apart(const job& work) noexcept;

}  // namespace heddle::detail
