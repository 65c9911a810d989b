// Ticks: signals that interrupt what a kernel thread computes. This header is a part of the platform seam
// (platform.hpp). All functions but listen_for_ticks are async-signal-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <heddle/export.hpp>

#include "platform/clock.hpp"

namespace heddle::platform {

// A source of a timer's ticks other than the system's timers and signals. The system's timers are used by default and
// have no such object. All functions but why_not are async-signal-safe.
struct interrupted;
struct tick_timer;
struct tick_source {
  const char* (*why_not)() noexcept;  // returns null if there are such ticks here, and otherwise the reason
  // As make, set and drop below. They may be called only if why_not has returned null.
  const char* (*make)(tick_timer& out, void* owner) noexcept;
  void (*set)(const tick_timer& timer, nanoseconds first, nanoseconds interval) noexcept;
  void (*drop)(const tick_timer& timer) noexcept;
  // Called in the handler of such a tick, on its kernel thread. After let_in further ticks come; after hold they wait.
  void (*let_in)() noexcept;
  void (*hold)() noexcept;
};
// Returns the identity of the calling kernel thread, which is the target of send_tick and of timers.
int kernel_thread_id() noexcept;
// A description of the code that a tick has interrupted. It lies on the interrupted stack, below the handler, and moves
// with that stack's thread.
struct interrupted {
  // The system's record of the interrupted code, on that stack. Null if it was not interrupted by a signal.
  void* frame{nullptr};
  const tick_source* source{nullptr};  // null for the system's timers and for a tick that was sent
  // The stack of the interrupted thread, which may have left it for one that it has made itself.
  const void* stack_low{nullptr};
  const void* stack_top{nullptr};
  // True if another signal's handler is at work there, on a stack that belongs to the kernel thread.
  bool on_alternate_stack{false};
  // True if the code waited in a system call, which will report EINTR.
  bool call_cut_short{false};
  // True if the code has just asked the system on which kernel thread it runs, as raise() does before it sends a
  // signal.
  bool knows_kernel_thread{false};
  // True if the last instruction was a pause. The code then spins until another thread does something.
  bool at_pause{false};
  // A digest of the place in the code and of the registers, or 0 if unknown. If two digests in a row are equal, the
  // code has made no progress by itself.
  std::uint64_t state{0};
  // True if the interrupted thread has installed an alternate stack of its own, or blocks signals of its own. Set by
  // leave_interrupted.
  bool own_stack{false};
  bool own_mask{false};
};
// The signal state of a kernel thread that runs threads of the runtime. It belongs to the kernel thread: every thread
// that runs there finds it, and a thread that moves takes nothing of it along.
struct signal_state {
  std::uint64_t blocked{0};  // as bits; never the ticks' signal
  void* alternate_stack{nullptr};
  std::size_t alternate_bytes{0};
  // False for a kernel thread of the program's own until its signals are read for the first time.
  bool known{false};
  // True if a context was left while ticks were held. The next context lets ticks in when it goes on.
  bool ticks_held{false};
};

// Makes `handler` run on every kernel thread that gets a tick, on top of whatever it does. `owner` is the timer's
// owner, or null for a tick that was sent. Further ticks are held until the handler returns or leaves by
// leave_interrupted. After the handler, errno and the floating-point environment are those of the interrupted code.
// Interrupted system calls are restarted where the system can. Returns the number of the signal by which ticks come, or
// 0 if there are no ticks here. The number differs from an earlier one if other code has taken that signal (`arrives`).
// To be called once in a process.
int listen_for_ticks(void (*handler)(void* owner, interrupted& what) noexcept) noexcept;
// These two calls stand around a switch inside the handler. leave_interrupted is called before the kernel thread goes
// on with other code. return_to_interrupted is called on the kernel thread, the same or another, that goes on with the
// interrupted code. Between the calls the kernel thread has its usual signals, and ticks come. `to_another` means that
// the kernel thread goes on with another context that stands between these two calls. The signals are then left as they
// are, because that context's return from its own handler sets them.
void leave_interrupted(interrupted& what, signal_state& here, bool to_another) noexcept;
void return_to_interrupted(interrupted& what, signal_state& here) noexcept;
// Returns the signals that the calling kernel thread blocks, without the ticks' signal. Kernel threads that it starts
// must block the same signals.
std::uint64_t blocked_signals() noexcept;
// Gives the calling kernel thread exactly these signals and this alternate stack.
void take_signals(signal_state& here) noexcept;
void send_tick(int kernel_thread) noexcept;
// Returns the number of the signal that ticks come by, or 0 if there is none (yet). Exported for bench/comparison.
HEDDLE_API int signal_of_ticks() noexcept;
// A timer whose ticks come to the kernel thread that called make, until drop(). make returns null, or a text that says
// why there is no timer and what can be done about it.
struct tick_timer {
  int id{-1};
  const tick_source* source{nullptr};  // null for the system's timers
  int signal{0};
};
// Returns false if the timer's ticks do not arrive, because other code has taken their signal. The timer must be
// dropped and made anew then.
bool arrives(const tick_timer& timer) noexcept;
const char* make(tick_timer& out, void* owner, const tick_source* source = nullptr) noexcept;
// Measures how much of a kernel thread's time a tick takes, in and out of its handler, which does nothing. Takes some
// milliseconds, in which the caller computes. Returns 0 if it is not known. listen_for_ticks must have been called.
nanoseconds cost_of_tick() noexcept;
// Returns null if the system has timers, and otherwise the reason, as make does.
const char* why_no_timers() noexcept;
// Lets the first tick come at `first` on now()'s clock and further ticks at every `interval`. With an interval of 0
// only one tick comes; with `first` 0 no more ticks come.
void set(const tick_timer& timer, nanoseconds first, nanoseconds interval) noexcept;
void drop(tick_timer& timer) noexcept;
#if defined(HEDDLE_SIM)
// Sleeps until `word` is not `expected`; a tick ends the sleep. It models a means that only comparisons use, which is
// in bench/comparison for real machines.
void sleep_until_tick(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
#endif

}  // namespace heddle::platform
