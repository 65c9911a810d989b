// Signals other than ticks: faults, alternate stacks, signals of the program, and signals that end it. This header is a
// part of the platform seam (platform.hpp).
#pragma once

#include <cstddef>

namespace heddle::platform {

// Gives the calling kernel thread an alternate stack for good, if it has none. To be called once by a kernel thread.
void provide_alternate_stack() noexcept;

// Makes faults on memory (SIGSEGV, SIGBUS) call `explain(address)` first, on the alternate stack of the kernel thread.
// The fault then goes where it would have gone without it. To be called once in a process.
void explain_faults(void (*explain)(const void* address)) noexcept;
// A stack for signal handlers, which the calling kernel thread alone has while this object lives. Taking one takes no
// lock. (A thread_local with a destructor would: its registration takes the loader's lock, which a preempted thread may
// hold.)
class alternate_stack {
 public:
  alternate_stack() noexcept;
  ~alternate_stack();
  alternate_stack(const alternate_stack&) = delete;
  alternate_stack& operator=(const alternate_stack&) = delete;
  void* memory() const noexcept { return memory_; }  // null if there was none left
  std::size_t bytes() const noexcept;
  // Returns true if the memory is, or has been, the alternate stack of a kernel thread. Such memory is kept for later
  // kernel threads.
  static bool is_a_kernel_threads(const void* memory) noexcept;
  static std::size_t usual_bytes() noexcept;  // the size of each

 private:
  void* memory_{nullptr};
};
// Makes `handler` run whenever the process gets the signal "USR1", "USR2", "QUIT" or "WINCH". Returns false for other
// names.
bool on_signal(const char* name, void (*handler)(int)) noexcept;

#if defined(HEDDLE_SIM)
inline void on_deadly_signals(void (*)(int, bool) noexcept) noexcept {}
inline void die_of(int) noexcept {}
#else
// Makes `handler` run once when a signal asks the process to end, on the kernel thread that gets the signal. The
// signals are those of SIGINT, SIGTERM and SIGABRT for which the program has neither a handler nor SIG_IGN; `aborts` is
// true if abort() was called. A second such signal ends the process at once. A null handler ends this; handlers that
// the program has installed in the meantime stay. All other signals are held while the handler runs.
void on_deadly_signals(void (*handler)(int signal, bool aborts) noexcept) noexcept;
// Ends the process by that signal as if it had not been handled. The call is async-signal-safe.
void die_of(int signal) noexcept;
#endif

}  // namespace heddle::platform
