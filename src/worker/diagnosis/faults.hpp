// What the runtime says when a user-level thread overflows its stack, and who runs and waits where.
#pragma once

namespace heddle::worker {

class runtime;
class worker;

// Names a fault in the guard of the running user-level thread's stack on standard error. Async-signal-safe.
void explain_fault(const void* address) noexcept;

// Threads that wait for mutexes of each other, in a circle; `tell`
// prints them. May miss those that come to be meanwhile.
bool in_deadlock(runtime& home, bool tell) noexcept;
// It has a thread that runs. A hint.
bool is_running(const worker& w) noexcept;
bool somebody_waits_for_a_descriptor(runtime& home) noexcept;
// Writes what every worker does and what every parked user-level thread waits for, with its stack, to standard error.
// Callable from any thread while the runtime lives, not from a signal handler; what changes meanwhile may be missing.
void dump_threads(runtime& home) noexcept;

}  // namespace heddle::worker
