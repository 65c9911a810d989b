// Signals other than ticks: faults, alternate stacks, signals of the program's, the end. A part of the seam:
// platform.hpp.
#pragma once

#include <cstddef>

namespace heddle::platform {

// Gives the calling kernel thread an alternate stack, for good, if it has none. Once a kernel thread.
void provide_alternate_stack() noexcept;

// Once a process: faults on memory (SIGSEGV, SIGBUS) are first shown to `explain(address)`, on the alternate stack of
// the kernel thread; then they go where they would have gone.
void explain_faults(void (*explain)(const void* address)) noexcept;
// A stack for signal handlers that the calling kernel thread has while this object lives; nobody else has it then.
// Takes no lock. (That is why this is not a thread_local with a destructor: registering one takes the loader's lock,
// which a preempted thread may hold.)
class alternate_stack {
 public:
  alternate_stack() noexcept;
  ~alternate_stack();
  alternate_stack(const alternate_stack&) = delete;
  alternate_stack& operator=(const alternate_stack&) = delete;
  void* memory() const noexcept { return memory_; }  // null: there was none left
  std::size_t bytes() const noexcept;
  // Whether it is the alternate stack of some kernel thread, now or once: the memory is kept for later ones.
  static bool is_a_kernel_threads(const void* memory) noexcept;

 private:
  void* memory_{nullptr};
};
// Calls `handler` whenever the process gets the signal "USR1", "USR2", "QUIT" or "WINCH"; false for other names.
bool on_signal(const char* name, void (*handler)(int)) noexcept;

#if defined(HEDDLE_SIM)
inline void on_deadly_signals(void (*)(int, bool) noexcept) noexcept {}
inline void die_of(int) noexcept {}
#else
// From now on `handler` runs once, on the kernel thread that gets it, when a signal that asks the process to end comes,
// or abort() is called (`aborts`): of SIGINT, SIGTERM and SIGABRT those for which the program has neither a handler nor
// SIG_IGN. Whatever comes second ends the process at once. Null: no longer; what the program has installed meanwhile
// stays. All other signals are held while the handler runs.
void on_deadly_signals(void (*handler)(int signal, bool aborts) noexcept) noexcept;
// Ends the process by that signal as if nobody had handled it. Async-signal-safe.
void die_of(int signal) noexcept;
#endif

}  // namespace heddle::platform
