// How a worker changes its carrier: KLT-switching ([switch_klt:1] to [switch_klt:7] of preemption.md) and blocking
// calls ([blocking:1] to [blocking:7] of src/wait/blocking.md). Owns nothing: the carriers are those of `carriers`, of
// the worker's own pool, and those that sleep with a bound thread. The functions are called by the kernel thread that
// has the worker, with preemption off. Promise: at most one kernel thread has a worker.
#pragma once

#include "worker/carriers/carrier.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

// The worker is the other carrier's from here on.
void hand_over(worker& w, carrier& to, bool in_handler = false) noexcept;
// The calling kernel thread, which is `self`, runs on that processing unit from here on; -1 means on any.
void bind_to(carrier& self, int processing_unit) noexcept;

// KLT-switching: the worker of `self`, which a tick has interrupted, goes on with `item`, and the calling kernel thread
// sleeps with `self` until some worker comes to it. Returns false if no kernel thread was at hand; one is then being
// made, and `self` goes on.
[[nodiscard]] bool switch_carrier(worker& w, thread& self, entry item) noexcept;

// blocking(): the worker goes on with another carrier while the calling kernel thread keeps the thread. Returns false
// if no carrier could be had. With `made_elsewhere` it makes none itself but asks the creator for one; false then means
// that the caller shall try again.
[[nodiscard]] bool lend_worker(worker& w, bool made_elsewhere) noexcept;
// The calling kernel thread, without a worker, leaves `self` to the workers and becomes a spare carrier.
void return_from_blocking(thread& self, carrier& c) noexcept;

}  // namespace heddle::worker
