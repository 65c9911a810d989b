/// How threads that do not wait are made to let others run.
#pragma once

#include <cstdint>

namespace heddle {

/// How a thread is preempted. docs/guide/preemption.md says which to choose.
enum class preemption : std::uint8_t {
  none,  ///< it runs until it waits, yields or ends
  /// A timer's signal makes it yield. From one instruction to the next it may come to another kernel thread, so its
  /// code must not use what belongs to one: no thread_local, errno or malloc, unless it has its own thread-local
  /// storage (tls::own).
  signal_yield,
  /// A timer's signal puts its kernel thread to sleep, and its worker goes on with another one. For any code.
  klt_switching,
  as_runtime,  ///< what the runtime was made with (HEDDLE_PREEMPT)
};

/// Whose thread-local variables a thread sees.
enum class tls : std::uint8_t {
  carrier,  ///< those of the kernel thread that runs it at the moment
  own,      ///< its own, errno and malloc's included, wherever it runs; also of a thread that is not preemptive
  /// of a preemptive thread: what the runtime was made with (HEDDLE_PREEMPT_TLS); of any other: the carrier's
  as_runtime,
  caller,  ///< those of the thread that waits for it meanwhile: for heddle::run only
};

}  // namespace heddle
