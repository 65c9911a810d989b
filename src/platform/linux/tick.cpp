// Ticks by POSIX timers and signals. The signal is SIGURG: ignored where nobody handles it, passed on by debuggers, used by no
// library that is known but Go's runtime; what others send it for goes to the handler that stood there before.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "platform/linux/signal_frame.hpp"
#include "platform/linux/uintr.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

constexpr int tick_signal = SIGURG;

std::atomic<void (*)(void*, interrupted&) noexcept> listener{nullptr};  // set once, before the signal is handled
struct sigaction previous;

// What the runtime's ticks carry, and nobody else's signals of that number: timers the carrier with this bit set, ticks that are sent this address.
// Another library may interrupt kernel threads by the same signal (Go's runtime does, by tgkill).
constexpr std::uintptr_t timer_mark = 1;
const char sent_mark = 0;

// The address of errno belongs to the kernel thread, and compilers take it for a constant of the function: the handler may begin
// on one kernel thread and end on another.
[[gnu::noinline]] int read_errno() noexcept {
  asm volatile("");
  return errno;
}
[[gnu::noinline]] void write_errno(int value) noexcept {
  asm volatile("");
  errno = value;
}

// Everything else that was interrupted is in the signal frame, on the interrupted stack: registers, the floating-point state with its control
// words, blocked signals. The return from the handler loads it, on whichever kernel thread that is. The system holds further ticks
// until then: one that came between the listener's last act and that return would find the frame still there, and put another on top.
void on_tick(int, siginfo_t* info, void* context) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(info->si_value.sival_ptr);
  const bool by_timer = info->si_code == SI_TIMER && (value & timer_mark) != 0;
  if (!by_timer && (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &sent_mark)) {
    if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(tick_signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) previous.sa_handler(tick_signal);
    return;
  }
  const auto& frame = *static_cast<const ucontext_t*>(context);
  interrupted what;
  what.frame = context;
  what.on_alternate_stack = was_on_alternate_stack(frame);
  what.call_cut_short = was_in_cut_call(frame);
  deliver_tick(by_timer ? reinterpret_cast<void*>(value & ~timer_mark) : nullptr, what);
}

timespec to_timespec(nanoseconds time) noexcept {
  return {static_cast<time_t>(time / 1'000'000'000u), static_cast<long>(time % 1'000'000'000u)};
}

}  // namespace

void deliver_tick(void* owner, interrupted& what) noexcept {
  const int saved = read_errno();
  listener.load()(owner, what);
  write_errno(saved);
}

bool on_alternate_stack() noexcept {
  stack_t now{};
  return syscall(SYS_sigaltstack, nullptr, &now) == 0 && (now.ss_flags & SS_ONSTACK) != 0;
}

int kernel_thread_id() noexcept { return static_cast<int>(syscall(SYS_gettid)); }

bool listen_for_ticks(void (*handler)(void*, interrupted&) noexcept) noexcept {
  static const bool installed = [handler] {
    listener.store(handler);
    struct sigaction action {};
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(tick_signal, &action, &previous) == 0;
  }();
  return installed;
}

void send_tick(int kernel_thread) noexcept {
  siginfo_t info;
  std::memset(&info, 0, sizeof info);
  info.si_signo = tick_signal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_ptr = const_cast<char*>(&sent_mark);
  syscall(SYS_rt_tgsigqueueinfo, info.si_pid, kernel_thread, tick_signal, &info);
}

std::uint64_t blocked_signals() noexcept {
  std::uint64_t now = 0;
  change_blocked(SIG_BLOCK, 0, &now);
  return now & ~bit_of(tick_signal);
}

void take_signals(const signal_state& here) noexcept {
  set_alternate_stack(here.alternate_stack);
  change_blocked(SIG_SETMASK, here.blocked);
}

// In a signal handler the system has set the floating-point environment to what a program starts with: what goes on next is to find that of the
// interrupted code, from which it switches like from any other.
void leave_interrupted(interrupted& what, signal_state& here, bool to_another) noexcept {
  here.ticks_held = false;
  if (what.by_user_interrupt) return let_user_interrupts_in();
  const auto& frame = *static_cast<const ucontext_t*>(what.frame);
  load_floating_point_control(frame);
  what.own_stack = frame.uc_stack.ss_sp != here.alternate_stack && !alternate_stack::is_a_kernel_threads(frame.uc_stack.ss_sp);
  what.own_mask = (blocked_in(frame) & ~bit_of(tick_signal)) != here.blocked;
  if (to_another) {  // the return from its handler says which signals and which stack it has
    here.ticks_held = true;
    return;
  }
  if (frame.uc_stack.ss_sp != here.alternate_stack) set_alternate_stack(here.alternate_stack);
  change_blocked(SIG_SETMASK, here.blocked);
}

void return_to_interrupted(interrupted& what, signal_state& here) noexcept {
  if (what.by_user_interrupt) return hold_user_interrupts();
  if (!here.ticks_held) change_blocked(SIG_BLOCK, bit_of(tick_signal));
  here.ticks_held = false;
  // The frame names the alternate stack of the kernel thread that it was made on, which the return from the handler would install here.
  if (!what.own_stack) static_cast<ucontext_t*>(what.frame)->uc_stack = description_of(here.alternate_stack);
}

// By system calls: timer_create of the C library may allocate.
bool make(tick_timer& out, void* owner) noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = tick_signal;
  event.sigev_value.sival_ptr = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(owner) | timer_mark);
#if defined(sigev_notify_thread_id)
  event.sigev_notify_thread_id = kernel_thread_id();
#else
  event._sigev_un._tid = kernel_thread_id();
#endif
  return syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &out.id) == 0;
}

void set(const tick_timer& timer, nanoseconds first, nanoseconds interval) noexcept {
  if (timer.by_user_interrupt) return set_user_interrupt(timer.id, first, interval);
  const itimerspec when{to_timespec(interval), to_timespec(first)};
  syscall(SYS_timer_settime, timer.id, TIMER_ABSTIME, &when, nullptr);
}

void drop(tick_timer& timer) noexcept {
  if (timer.id < 0) return;
  if (timer.by_user_interrupt) drop_user_interrupt(timer.id);
  else syscall(SYS_timer_delete, timer.id);
  timer.id = -1;
}

void wait_for_tick(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  sigset_t ticks, before;
  sigemptyset(&ticks);
  sigaddset(&ticks, tick_signal);
  pthread_sigmask(SIG_BLOCK, &ticks, &before);
  sigset_t open = before;
  sigdelset(&open, tick_signal);
  while (word.load() == expected) sigsuspend(&open);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace heddle::platform
