// Restores, after a switch, the exceptions that were being handled before it.
#pragma once

#include "base/exception_state.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

// The second half of carrier::leave_exceptions, called on the same thread. After a switch that thread may be on another
// carrier. The carrier is therefore looked up here, and only if there is something to take back.
[[gnu::always_inline]] inline void take_back_exceptions(const base::exception_state& left) noexcept {
  if (left.any()) [[unlikely]]
    *worker::current().by->exceptions = left;
}

}  // namespace heddle::worker
