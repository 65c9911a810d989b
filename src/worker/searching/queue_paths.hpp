// The parts that the slow paths of pushes and pops share.
#pragma once

#include <heddle/detail/fork_queue.hpp>

#include "worker/preemption/section.hpp"

namespace heddle::detail {

// A preemptive thread pushes to a queue of its own. Moves the entry on to the worker's queue. All pushes of such a
// thread come here.
template <class Push>
[[gnu::noinline]] ticket push_from_preemptive(fork_queue* queue, slot* position, Push push) noexcept {
  const worker::section inside;
  queue->bottom.store(position, std::memory_order_relaxed);  // the thread's own
  return push(position->load(std::memory_order_relaxed));    // the thread's own
}

// As pop_slow, for the library's own code, which takes what a trace need not see. It does not return `watched`.
popped pop_slow_unwatched(fork_queue* queue, slot* position) noexcept;

}  // namespace heddle::detail
