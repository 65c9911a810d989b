// How long policies that hold tasks back believe what they see of other workers.
#pragma once

namespace heddle::policy {

// Searches in a row in which nobody ran anything, before a worker takes what the rules hold back. One is not enough: a
// worker that is just taking something looks idle, too.
inline constexpr unsigned idle_enough = 4;

}  // namespace heddle::policy
