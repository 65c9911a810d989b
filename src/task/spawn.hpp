// How a child that runs before its spawner hands the worker back. Children of groups and second halves of forks use it.
#pragma once

#include "fiber/thread.hpp"

namespace heddle::detail {

// Runs on the child's stack once the spawner is complete in memory, and offers the spawner's continuation to thieves.
void offer_continuation(fiber::thread* spawner);
// A child's last act. Returns true if no thread took its spawner's continuation, which goes on when the child's body
// returns.
[[nodiscard]] bool take_spawner_back(fiber::thread& child) noexcept;

}  // namespace heddle::detail
