// Ticks by POSIX timers and signals. The signal is SIGURG: ignored where nobody handles it, passed on by debuggers, used by no
// library that is known; what others send it for goes to the handler that stood there before.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "platform/linux/uintr.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

constexpr int tick_signal = SIGURG;

std::atomic<void (*)(void*, bool) noexcept> listener{nullptr};  // set once, before the signal is handled
struct sigaction previous;

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

// Everything else that was interrupted is in the signal frame, on the interrupted stack: registers, the floating-point
// state with its control words, the signal mask. The return from the handler loads it, on whichever kernel thread that is.
void on_tick(int, siginfo_t* info, void* context) noexcept {
  const bool by_timer = info->si_code == SI_TIMER;
  if (!by_timer && (info->si_code != SI_TKILL || info->si_pid != getpid())) {
    if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(tick_signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) previous.sa_handler(tick_signal);
    return;
  }
  // On the alternate stack, which belongs to the kernel thread, another signal's handler is at work.
  const bool may_switch = (static_cast<ucontext_t*>(context)->uc_stack.ss_flags & SS_ONSTACK) == 0;
  deliver_tick(by_timer ? info->si_value.sival_ptr : nullptr, may_switch);
}

timespec to_timespec(nanoseconds time) noexcept {
  return {static_cast<time_t>(time / 1'000'000'000u), static_cast<long>(time % 1'000'000'000u)};
}

}  // namespace

void deliver_tick(void* owner, bool may_switch) noexcept {
  const int saved = read_errno();
  listener.load()(owner, may_switch);
  write_errno(saved);
}

bool on_alternate_stack() noexcept {
  stack_t now{};
  return syscall(SYS_sigaltstack, nullptr, &now) == 0 && (now.ss_flags & SS_ONSTACK) != 0;
}

int kernel_thread_id() noexcept { return static_cast<int>(syscall(SYS_gettid)); }

bool listen_for_ticks(void (*handler)(void*, bool) noexcept) noexcept {
  static const bool installed = [handler] {
    listener.store(handler);
    struct sigaction action {};
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;  // not deferred: the next thread on this kernel thread is to be interrupted, too
    sigemptyset(&action.sa_mask);
    return sigaction(tick_signal, &action, &previous) == 0;
  }();
  return installed;
}

void send_tick(int kernel_thread) noexcept { syscall(SYS_tgkill, getpid(), kernel_thread, tick_signal); }

// By system calls: timer_create of the C library may allocate.
bool make(tick_timer& out, void* owner) noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = tick_signal;
  event.sigev_value.sival_ptr = owner;
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
