// Ticks: signals that interrupt what a kernel thread computes. A part of the seam: platform.hpp. All but
// listen_for_ticks are async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/clock.hpp"

namespace heddle::platform {

// Where the ticks of a timer come from, if not from the system's timers by signals, which are what is used and no such
// object. All is async-signal-safe but why_not.
struct interrupted;
struct tick_timer;
struct tick_source {
  const char* (*why_not)() noexcept;  // why there are no such ticks here; null: there are
  // As make, set and drop below. Only where why_not has given null.
  const char* (*make)(tick_timer& out, void* owner) noexcept;
  void (*set)(const tick_timer& timer, nanoseconds first, nanoseconds interval) noexcept;
  void (*drop)(const tick_timer& timer) noexcept;
  // On the calling kernel thread, in the handler of such a tick: further ones come from here on, or wait again.
  void (*let_in)() noexcept;
  void (*hold)() noexcept;
};
// What send_tick and a timer aim at: the calling kernel thread.
int kernel_thread_id() noexcept;
// What a tick has interrupted. It lies on the interrupted stack, below the handler, and goes where that goes.
struct interrupted {
  // The system's record of it, on that stack. Null: it was no signal.
  void* frame{nullptr};
  const tick_source* source{nullptr};  // null: the system's timers, or a tick that was sent
  // Another signal's handler is at work there, on a stack that belongs to the kernel thread.
  bool on_alternate_stack{false};
  // It waited in a system call, which will report EINTR.
  bool call_cut_short{false};
  // It has just asked the system on which kernel thread it runs, as raise() does before it sends a signal there.
  bool knows_kernel_thread{false};
  // The last instruction of it was a pause: it spins for what somebody else does.
  bool at_pause{false};
  // A digest of where it is in the code and of its registers: twice the same, and it has got nowhere by itself. 0: not
  // known.
  std::uint64_t state{0};
  // Whoever was interrupted has installed an alternate stack of its own, or blocks signals of its own. Set by
  // leave_interrupted.
  bool own_stack{false};
  bool own_mask{false};
};
// The signals of a kernel thread that runs threads of the runtime. They belong to the kernel thread: every thread that
// it runs finds them, and takes none along when it moves.
struct signal_state {
  std::uint64_t blocked{0};  // as bits; never the ticks' signal
  void* alternate_stack{nullptr};
  std::size_t alternate_bytes{0};
  // False: a kernel thread of the program's; its signals are what they are when it is first asked for them.
  bool known{false};
  // A context was left while ticks were held; the next one lets them in when it goes on.
  bool ticks_held{false};
};

// Once a process. From then on `handler` runs on a kernel thread that gets a tick, on top of whatever it does. `owner`
// is the timer's, or null for a tick that was sent. Further ticks are held until the handler returns, or leaves by
// leave_interrupted. After it errno and the floating-point environment are those that were interrupted. Interrupted
// system calls are restarted where the system can. Returns the number of the signal that ticks come by, which is
// another one than before if somebody has taken that meanwhile (`arrives`); 0: there are no ticks here.
int listen_for_ticks(void (*handler)(void* owner, interrupted& what) noexcept) noexcept;
// Around a switch inside the handler. leave_interrupted: before the kernel thread goes on with something else.
// return_to_interrupted: on the kernel thread, the same or another, that goes on with what was interrupted. In between
// the kernel thread has its usual signals, and ticks come. With `to_another` what it goes on with is another context
// that stands between these two calls: then signals are left as they are, for that one's return from its handler says
// what signals there are.
void leave_interrupted(interrupted& what, signal_state& here, bool to_another) noexcept;
void return_to_interrupted(interrupted& what, signal_state& here) noexcept;
// The signals that the calling kernel thread blocks, without the ticks' signal. Kernel threads that it starts are to
// block the same.
std::uint64_t blocked_signals() noexcept;
// The calling kernel thread has exactly these signals, and this alternate stack.
void take_signals(signal_state& here) noexcept;
void send_tick(int kernel_thread) noexcept;
// A timer whose ticks come to the calling kernel thread (make), until drop(). make gives null, or says why there is no
// timer, and what can be done about it.
struct tick_timer {
  int id{-1};
  const tick_source* source{nullptr};  // null: the system's timers
  int signal{0};
};
// False: its ticks no longer arrive, because somebody has taken their signal. To be dropped and made anew.
bool arrives(const tick_timer& timer) noexcept;
const char* make(tick_timer& out, void* owner, const tick_source* source = nullptr) noexcept;
// Whether the system has timers at all, as make tells it.
const char* why_no_timers() noexcept;
// The first tick at `first` (now()'s clock; 0: no more ticks), then every `interval`; interval 0: one tick.
void set(const tick_timer& timer, nanoseconds first, nanoseconds interval) noexcept;
void drop(tick_timer& timer) noexcept;

}  // namespace heddle::platform
