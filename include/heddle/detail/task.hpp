// The bare task: a job in the caller's memory, run by any worker that takes it. Graphs consist of such jobs.
#pragma once

#include <heddle/detail/fork_queue.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// Offers `work` to this worker and to thieves. It runs once, on a user-level thread, and may wait for anything. Only
// its own code can tell of its end, and may also enqueue it again. If the queue is full, it runs inside this call.
// Thread context: user-level threads only.
inline void enqueue(job& work) noexcept {
  if (push(entry_of(&work)) == nullptr) [[unlikely]] {
    work.own_code()(&work);
  }
}

}  // namespace heddle::detail
