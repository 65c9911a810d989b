// The kernel threads that carry the workers of a runtime: all of them, and the *spares*, which have no worker at the
// moment and sleep. Owns the carriers. Promise: a carrier that is taken from here belongs to the taker alone; no more
// than `spares_kept` spares stay for ever ([blocking:7] of src/wait/blocking.md). A worker's own pool of carriers is
// the worker's (`worker::spares`).
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/platform.hpp"
#include "sync/mutex.hpp"
#include "worker/carriers/carrier.hpp"

namespace heddle::worker {

// The number of carriers without a worker that are kept for ever; a burst of blocking calls may make thousands.
inline constexpr unsigned spares_kept = 16;

class carriers {
 public:
  explicit carriers(runtime& home) noexcept : home_(home) {}

  // Starts a kernel thread, which will carry whatever worker it is assigned. Allocates. Returns null if it could not be
  // started.
  carrier* make(int processing_unit = -1, bool offers_itself = false) noexcept;
  // An errno: why the last kernel thread that could not be started could not.
  int start_error() const noexcept { return start_error_.load(); }

  // Takes a spare; null if there is none.
  carrier* take() noexcept;
  // The same without waiting, in a signal handler: while another thread is here it finds none.
  carrier* try_take() noexcept;

  // The calling kernel thread, which has no worker and waits for nothing any more, becomes a spare.
  void offer(carrier& self) noexcept;
  // The calling kernel thread, a spare for a while, may end. Returns false if it is needed, or is one of the carriers
  // that are kept.
  bool dismiss(carrier& self) noexcept;
  // True if a dismissed carrier's kernel thread has not been joined yet.
  bool owes_a_join() noexcept;

  // The signals that are blocked in the kernel thread that made the runtime. They are blocked in all carriers, too.
  std::uint64_t blocked_signals() const noexcept { return blocked_signals_; }

  // The end of a runtime, whose workers have been told to stop. Ends all spares; from this call on a carrier ends when
  // it becomes one.
  void end_spares() noexcept;
  // Called after that, when the workers have been told: waits for all carriers, and frees them.
  void join_all() noexcept;
  // Instead of both, where a runtime lives as long as the process, at the process's end: from this call on no spare
  // ends, and the last one that has ended is joined, unless that would mean to wait.
  void end_with_process() noexcept;

 private:
  carrier* take_first() noexcept;
  // Under mutex_. Returns false if the destructor has taken `c` out already.
  bool take_out(const carrier& c) noexcept;

  runtime& home_;  // of its carriers; nothing of it is used here
  sync::mutex mutex_;
  carrier* spares_{nullptr};     // under mutex_
  unsigned spare_count_{0};      // under mutex_
  bool ending_{false};           // under mutex_
  bool keeps_spares_{false};     // under mutex_; the process ends
  carrier* dismissed_{nullptr};  // under mutex_; it has ended or is about to, and is not joined yet
  carrier* all_{nullptr};        // under mutex_
  const std::uint64_t blocked_signals_{platform::blocked_signals()};
  std::atomic<int> start_error_{0};
};

}  // namespace heddle::worker
