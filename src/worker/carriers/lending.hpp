// Caller-runs: foreign kernel threads that take a worker and run their calls themselves, [borrow:1] to [borrow:7] of
// lending.md. Owns the decision whether this runtime allows that at all; which worker is with a caller, and with whom,
// the workers say (`token`, `loan`). A caller acts for a worker like a carrier, and so uses nearly all of the runtime.
// Promise: the call is run once, or not at all, and the worker is its own carrier's again.
#pragma once

#include "worker/worker.hpp"

namespace heddle::worker {

class lending {
 public:
  // `lends`: whether nothing about the runtime forbids it.
  lending(runtime& home, const worker_list& workers, bool lends) noexcept
      : home_(home), workers_(workers), lends_(lends) {}

  // Runs call(data) on a user-level thread that the calling foreign kernel thread carries itself, with a worker that
  // sleeps. Returns when that thread has ended, wherever it went. Returns false if no worker could be had, and nothing
  // was run.
  [[nodiscard]] bool run(void (*call)(void*) noexcept, void* data) noexcept;
  // A foreign kernel thread's worker goes on with its own carrier. Called by that kernel thread.
  static void wake_lender(worker& w) noexcept;

 private:
  struct stay;
  static void enter_stay(thread* self) noexcept;
  [[nodiscard]] thread* next_of_stay(worker& w, const stay& s) noexcept;
  [[nodiscard]] bool is_alone() const noexcept;
  [[nodiscard]] worker* borrow() noexcept;
  [[nodiscard]] bool try_to_borrow(worker& w) noexcept;
  void give_back(worker& w) noexcept;
  [[nodiscard]] bool others_fall_idle(const worker& w) const noexcept;
  [[nodiscard]] bool must_wake_lender(const worker& w) noexcept;
  [[nodiscard]] bool settle(worker& w) noexcept;

  unsigned count() const noexcept { return static_cast<unsigned>(workers_.size()); }

  runtime& home_;
  const worker_list& workers_;
  const bool lends_;
};

}  // namespace heddle::worker
