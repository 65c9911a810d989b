// The time for which policies that hold tasks back believe what they see of other workers.
#pragma once

namespace heddle::policy {

// The number of searches in a row in which no worker ran anything, before a worker takes a task that the rules hold
// back. One search is not enough, because a worker that is just taking something looks idle, too.
inline constexpr unsigned idle_enough = 4;

}  // namespace heddle::policy
