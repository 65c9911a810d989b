// The kind of code that calls. It is one of three:
// - a foreign kernel thread: it carries no worker, because it is not of heddle's, or is in blocking();
// - a preemptive thread, in its own code: a tick may move it between any two instructions, so a worker's data are out
//   of its reach until it is in a section (worker/preemption/section.hpp);
// - a worker: the runtime's own code, and the code of a thread which is not preemptive.
// The public functions begin by asking this. Within the runtime, where the second case cannot occur, worker::current
// and worker::current_or_null answer at once.
#pragma once

#include <heddle/detail/current.hpp>
#include <heddle/detail/fork_queue.hpp>

#include "base/contracts.hpp"
#include "fiber/preemptible.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class caller {
 public:
  // Must be asked again after every call that may switch.
  [[gnu::always_inline]] static caller now() noexcept { return caller(detail::current_queue()); }
  // The same where the current queue, or null, is at hand.
  explicit caller(detail::fork_queue* current) noexcept : queue_(current) {}

  bool is_foreign() const noexcept { return queue_ == nullptr; }
  bool is_user_code() const noexcept { return queue_ != nullptr && queue_->stands_for != nullptr; }

  // If the caller is on a worker: that worker.
  worker& on() const noexcept {
    HEDDLE_AUDIT_CHECK(queue_ != nullptr && queue_->stands_for == nullptr, "the caller is on no worker");
    return static_cast<worker&>(*queue_);
  }
  // The same for a caller that may be foreign, for which it returns null.
  worker* on_or_null() const noexcept {
    HEDDLE_AUDIT_CHECK(!is_user_code(), "a preemptive thread's own code uses a worker");
    return static_cast<worker*>(queue_);
  }
  // If the caller is user code: the data that the preemptive thread has besides its control block.
  fiber::preemptible& preemptive() const noexcept {
    HEDDLE_AUDIT_CHECK(is_user_code(), "the caller is no preemptive thread's own code");
    return static_cast<fiber::preemptible&>(*queue_);
  }

  // Unless the caller is foreign: the part that every kind of current queue has, and the user-level thread that calls.
  const detail::fork_queue& queue() const noexcept { return *queue_; }
  thread& running() const noexcept { return *static_cast<thread*>(queue_->running); }
  // The caller's runtime; null if it is foreign.
  runtime* home() const noexcept {
    if (queue_ == nullptr) return nullptr;
    return is_user_code() ? preemptive().self().home : &on().home;
  }

 private:
  detail::fork_queue* queue_;
};

}  // namespace heddle::worker
