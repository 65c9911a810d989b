// The messages of the runtime when a user-level thread overflows its stack, and the dump of which thread runs and waits
// where.
#pragma once

namespace heddle::worker {

class runtime;
class worker;

// Names a fault in the guard of the running user-level thread's stack on standard error. Async-signal-safe.
void explain_fault(const void* address) noexcept;

// Returns true if threads wait for mutexes of each other, in a circle; with `tell` they are printed. May miss circles
// that come to be meanwhile.
bool in_deadlock(runtime& home, bool tell) noexcept;
// Returns true if the worker has a thread that runs. A hint.
bool is_running(const worker& w) noexcept;
bool somebody_waits_for_a_descriptor(runtime& home) noexcept;
// Writes to standard error that all workers of the runtime are in system calls, and where one of them is. Kernel
// threads are found by `of`. Callable from any thread while the runtime lives, not from a signal handler.
void tell_of_system_calls(runtime& home, int (*of)(const worker&) noexcept) noexcept;
// Writes to standard error what every worker does and what every parked user-level thread waits for, with its stack.
// Callable from any thread while the runtime lives, not from a signal handler. Changes that happen meanwhile may be
// missing.
void dump_threads(runtime& home) noexcept;

}  // namespace heddle::worker
