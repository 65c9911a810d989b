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

// [group:6] The most children of a group that a thief takes at once.
inline constexpr unsigned most_children_at_once = 64;

// As pop_slow, for a child of a group. It does not return `watched`.
popped pop_child_slow(fork_queue* queue, slot* position) noexcept;

}  // namespace heddle::detail
