// The bare task: a job in memory of the caller's, run by whichever worker takes it. What graphs are made of.
#pragma once

#include <heddle/detail/fork_queue.hpp>
#include <heddle/export.hpp>

namespace heddle::detail {

// Offers `work` to this worker and to thieves. It runs once, on a user-level thread, and may wait for anything; nobody
// is told of its end but by its own code, which may also enqueue it again. If the queue is full, it runs here and now.
// Thread context: user-level threads only.
inline void enqueue(job& work) noexcept {
  if (push(entry_of(&work)) == nullptr) [[unlikely]] {
    work.own_code()(&work);
  }
}

}  // namespace heddle::detail
