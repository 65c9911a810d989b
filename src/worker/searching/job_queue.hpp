// Jobs that were submitted from outside of a runtime, and those for which a worker's queue had no room: one queue for
// all workers, first in first out. A worker takes one at a time, so what is left stays in sight of everybody.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include <heddle/detail/spin_word.hpp>

#include "worker/jobs.hpp"

namespace heddle::worker {

class job_queue {
 public:
  // Any kernel thread. It ends with a full fence: the caller may look for sleepers right after it.
  void push(heddle::job& work) noexcept {
    detail::submitted::next(work) = nullptr;
    std::lock_guard hold(lock_);
    if (newest_ == nullptr) oldest_ = &work;
    else detail::submitted::next(*newest_) = &work;
    newest_ = &work;
    count_.fetch_add(1);
  }
  // Any worker. Returns the oldest job, or null if there is none.
  [[nodiscard]] heddle::job* take() noexcept {
    if (empty()) return nullptr;
    std::lock_guard hold(lock_);
    heddle::job* const work = oldest_;
    if (work == nullptr) return nullptr;
    oldest_ = detail::submitted::next(*work);
    if (oldest_ == nullptr) newest_ = nullptr;
    count_.fetch_sub(1);
    return work;
  }
  // A hint, or exact after a heavy fence.
  bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  detail::spin_word lock_;
  heddle::job* oldest_{nullptr};                   // under lock_
  heddle::job* newest_{nullptr};                   // under lock_
  alignas(64) std::atomic<std::size_t> count_{0};  // written under lock_; read by all who search
};

}  // namespace heddle::worker
