// Who runs the calling code. One of three:
// - a foreign kernel thread: it carries no worker, for it is not of heddle's, or is in blocking();
// - a preemptive thread, in its own code: a tick may move it between any two instructions, so what is a worker's is out
//   of its reach until it is in a section (worker/preemption/section.hpp);
// - a worker: the runtime's own code, and that of a thread which is not preemptive.
// The public functions begin by asking this. Within the runtime, where the second case cannot be, worker::current and
// worker::current_or_null answer at once.
#pragma once

#include <heddle/detail/current.hpp>
#include <heddle/detail/fork_queue.hpp>

#include "base/contracts.hpp"
#include "fiber/preemptible.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

class caller {
 public:
  // To be asked again after every call that may switch.
  [[gnu::always_inline]] static caller now() noexcept { return caller(detail::current_queue()); }
  // The same where the current queue, or null, is at hand.
  explicit caller(detail::fork_queue* current) noexcept : queue_(current) {}

  bool is_foreign() const noexcept { return queue_ == nullptr; }
  bool is_user_code() const noexcept { return queue_ != nullptr && queue_->stands_for != nullptr; }

  // On a worker: that one.
  worker& on() const noexcept {
    HEDDLE_AUDIT_CHECK(queue_ != nullptr && queue_->stands_for == nullptr, "the caller is on no worker");
    return static_cast<worker&>(*queue_);
  }
  // The same for a caller that may be foreign: null then.
  worker* on_or_null() const noexcept {
    HEDDLE_AUDIT_CHECK(!is_user_code(), "a preemptive thread's own code uses a worker");
    return static_cast<worker*>(queue_);
  }
  // In user code: what the preemptive thread has besides its control block.
  fiber::preemptible& preemptive() const noexcept {
    HEDDLE_AUDIT_CHECK(is_user_code(), "the caller is no preemptive thread's own code");
    return static_cast<fiber::preemptible&>(*queue_);
  }

  // Unless it is foreign. What every kind of current queue tells, and the user-level thread that calls.
  const detail::fork_queue& queue() const noexcept { return *queue_; }
  thread& running() const noexcept { return *static_cast<thread*>(queue_->running); }
  // Its runtime; null: it is foreign.
  runtime* home() const noexcept {
    if (queue_ == nullptr) return nullptr;
    return is_user_code() ? preemptive().self().home : &on().home;
  }

 private:
  detail::fork_queue* queue_;
};

}  // namespace heddle::worker
