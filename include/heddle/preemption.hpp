/// Kinds of preemption: how threads that do not wait are made to let others run.
#pragma once

#include <cstdint>

namespace heddle {

/// How a thread is preempted. docs/guide/preemption.md says which to choose.
enum class preemption : std::uint8_t {
  none,  ///< the thread runs until it waits, yields or ends
  /// A timer's signal makes the thread yield. From one instruction to the next it may come to another kernel thread. So
  /// its code must not use what belongs to a kernel thread (thread_local, errno, malloc), unless it has its own
  /// thread-local storage (tls::own).
  signal_yield,
  /// A timer's signal puts the thread's kernel thread to sleep, and its worker goes on with another one. It is for any
  /// code.
  klt_switching,
  as_runtime,  ///< the kind that the runtime was made with (HEDDLE_PREEMPT)
};

/// Which thread-local variables a thread sees.
enum class tls : std::uint8_t {
  carrier,  ///< those of the kernel thread that runs it at the moment
  /// Its own, those of errno and malloc included, wherever it runs. A thread need not be preemptive for this.
  own,
  /// For a preemptive thread, what the runtime was made with (HEDDLE_PREEMPT_TLS); for any other, the carrier's.
  as_runtime,
  caller,  ///< those of the thread that waits for it; for heddle::run only
};

}  // namespace heddle
