// Ticks by POSIX timers and signals. The signal is SIGURG, which is ignored if nobody handles it, is passed on by
// debuggers, and is used by no known library but Go's runtime. If the program handles it, the first other signal that
// nobody handles is used: `signal_to_use`.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "platform/linux/signal_frame.hpp"
#include "platform/linux/tick.hpp"
#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

std::atomic<void (*)(void*, interrupted&) noexcept> listener{nullptr};  // set once, before the signal is handled
std::atomic<int> tick_signal{0};  // written under `choosing`; 0 if there is none yet
std::atomic_flag choosing;        // no handler of ticks takes it
// A child of fork() frees it, because a kernel thread that the child lacks may hold it.
[[maybe_unused]] const bool freed_in_children = pthread_atfork(nullptr, nullptr, [] { choosing.clear(); }) == 0;

// The mark by which a tick of the runtime is told from any other signal of that number ([platform:5]). Ticks of timers
// carry their owner's address with this bit set; ticks that are sent carry the address of `sent_mark`.
constexpr std::uintptr_t timer_mark = 1;
const char sent_mark = 0;

// The address of errno belongs to the kernel thread, and compilers take it for a constant of the function. But the
// handler may begin on one kernel thread and end on another.
[[gnu::noinline]] int read_errno() noexcept {
  asm volatile("");
  return errno;
}
[[gnu::noinline]] void write_errno(int value) noexcept {
  asm volatile("");
  errno = value;
}

// Everything that was interrupted, except errno, is in the signal frame on the interrupted stack: registers, the
// floating-point state with its control words, blocked signals. The return from the handler loads it, on whichever
// kernel thread that happens. The system holds further ticks until then, because a tick between the listener's last act
// and that return would put another frame on top of this one.
void on_tick(int, siginfo_t* info, void* context) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(info->si_value.sival_ptr);
  const bool by_timer = info->si_code == SI_TIMER && (value & timer_mark) != 0;
  if (!by_timer && (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &sent_mark)) return;
  if (by_timer && reinterpret_cast<counted_ticks*>(value & ~timer_mark) == &measured_ticks) {
    measured_ticks.count.fetch_add(1);
    return;
  }
  const auto& frame = *static_cast<const ucontext_t*>(context);
  interrupted what;
  what.frame = context;
  what.on_alternate_stack = was_on_alternate_stack(frame);
  what.call_cut_short = returned_to(frame) == -EINTR;  // the signal ended it, and the system does not start it again
  what.knows_kernel_thread = has_asked_who_it_is(frame) || is_about_to_signal(frame);
  what.at_pause = is_at_pause(frame);
  what.state = state_of(frame);
  deliver_tick(by_timer ? reinterpret_cast<void*>(value & ~timer_mark) : nullptr, what);
}

// The first signal that nobody handles. A signal cannot be shared, because our handler runs on the interrupted stack.
// Other code that preempts by a signal, as Go's runtime does, may keep stacks too small for that, run its handler on
// the alternate stack, and end the program if it is called elsewhere. SIGURG comes first, because any other signal ends
// a program that has no handler; a tick that comes too late may meet such a program after exec. Real-time signals come
// last, because they are queued: each tick that is sent is delivered, where other signals are delivered once however
// often they were sent.
int signal_to_use() noexcept {
  const auto is_free = [](int signal) {
    struct sigaction now{};
    return sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
           (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
  };
  for (const int signal : {SIGURG, SIGSTKFLT}) {
    if (is_free(signal)) return signal;
  }
  for (int signal = SIGRTMAX - 1; signal > SIGRTMIN; --signal) {
    if (is_free(signal)) return signal;
  }
  return 0;
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

namespace {
// The bits of all signals by which ticks may come. There may be several, because carriers outlive a change of the
// signal, and runtimes are made before it is chosen for the first time.
std::uint64_t tick_bits() noexcept {
  const int signal = tick_signal.load(std::memory_order_relaxed);  // relaxed: a number
  return bit_of(SIGURG) | bit_of(SIGSTKFLT) | bit_of(SIGRTMAX - 1) | (signal != 0 ? bit_of(signal) : 0);
}
}  // namespace

bool on_alternate_stack() noexcept {
  stack_t now{};
  return syscall(SYS_sigaltstack, nullptr, &now) == 0 && (now.ss_flags & SS_ONSTACK) != 0;
}

int signal_of_ticks() noexcept { return tick_signal.load(); }

int kernel_thread_id() noexcept { return static_cast<int>(syscall(SYS_gettid)); }

int listen_for_ticks(void (*handler)(void*, interrupted&) noexcept) noexcept {
  struct sigaction now{};
  if (const int signal = tick_signal.load();
      signal != 0 && sigaction(signal, nullptr, &now) == 0 && now.sa_sigaction == on_tick)
    return signal;
  // Preemptive threads make threads, too. Without this a tick could suspend the holder, and others would wait for it.
  std::uint64_t before = 0;
  change_blocked(SIG_BLOCK, ~std::uint64_t{0}, &before);
  while (choosing.test_and_set()) yield_processor();
  listener.store(handler);
  if (const int signal = tick_signal.load();
      signal == 0 || sigaction(signal, nullptr, &now) != 0 || now.sa_sigaction != on_tick) {
    struct sigaction action{};
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    const int other = signal_to_use();
    if (other != 0 && sigaction(other, &action, nullptr) == 0) tick_signal.store(other);
  }
  choosing.clear();
  change_blocked(SIG_SETMASK, before);
  return tick_signal.load();
}

// relaxed: a number
bool arrives(const tick_timer& timer) noexcept {
  return timer.source != nullptr || timer.signal == tick_signal.load(std::memory_order_relaxed);
}

void send_tick(int kernel_thread) noexcept {
  const int signal = tick_signal.load(std::memory_order_relaxed);  // relaxed: a number
  siginfo_t info;
  std::memset(&info, 0, sizeof info);
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_ptr = const_cast<char*>(&sent_mark);
  syscall(SYS_rt_tgsigqueueinfo, info.si_pid, kernel_thread, signal, &info);
}

std::uint64_t blocked_signals() noexcept {
  std::uint64_t now = 0;
  change_blocked(SIG_BLOCK, 0, &now);
  return now & ~tick_bits();
}

void take_signals(signal_state& here) noexcept {
  here.known = true;
  set_alternate_stack(here.alternate_stack, here.alternate_bytes);
  change_blocked(SIG_SETMASK, here.blocked);
}

namespace {
void learn(signal_state& here, const stack_t& stack, std::uint64_t blocked) noexcept {
  here.known = true;
  here.blocked = blocked & ~tick_bits();
  here.alternate_stack = (stack.ss_flags & SS_DISABLE) == 0 ? stack.ss_sp : nullptr;
  here.alternate_bytes = stack.ss_size;
}
}  // namespace

// In a signal handler the system has set the floating-point environment to that with which a program starts. The
// environment of the interrupted code is loaded here, so that the switch which follows is like any other switch from
// that code.
void leave_interrupted(interrupted& what, signal_state& here, bool to_another) noexcept {
  here.ticks_held = false;
  if (what.source != nullptr) return what.source->let_in();
  const auto& frame = *static_cast<const ucontext_t*>(what.frame);
  load_floating_point_control(frame);
  if (!here.known) learn(here, frame.uc_stack, blocked_in(frame));
  what.own_stack =
      frame.uc_stack.ss_sp != here.alternate_stack && !alternate_stack::is_a_kernel_threads(frame.uc_stack.ss_sp);
  what.own_mask = (blocked_in(frame) & ~tick_bits()) != here.blocked;
  if (to_another) {  // the return from its handler restores its signals and its stack
    here.ticks_held = true;
    return;
  }
  if (frame.uc_stack.ss_sp != here.alternate_stack) set_alternate_stack(here.alternate_stack, here.alternate_bytes);
  change_blocked(SIG_SETMASK, here.blocked);
}

namespace {
// A handler of the program that runs on the interrupted stack has a signal frame there, too, and the program may have
// asked sigaltstack for the stack in use. Both name the alternate stack of a kernel thread that the code has left, and
// would install it here, where it would be in use twice. Makes all of them name the stack of `here`. Three words that
// look like a description need not be one: what a frame that has ended left there may lie around a variable that is in
// use. So a word is written only if its own value shows what it is.
void put_outer_frames_right(const ucontext_t& frame, const interrupted& what, const signal_state& here) noexcept {
  constexpr std::size_t word = sizeof(std::uintptr_t);
  static_assert(sizeof(stack_t) == 3 * word && offsetof(stack_t, ss_size) == 2 * word);
  const std::uintptr_t low = stack_pointer_of(frame), high = reinterpret_cast<std::uintptr_t>(what.stack_top);
  if (low < reinterpret_cast<std::uintptr_t>(what.stack_low) || low >= high)
    return;  // the code has made a stack itself
  const std::size_t size = alternate_stack::usual_bytes();
  for (std::uintptr_t at = (low + word - 1) / word * word; at + sizeof(stack_t) <= high; at += word) {
    std::uintptr_t value;
    std::memcpy(&value, reinterpret_cast<const void*>(at + 2 * word), word);
    if (value != size) [[likely]]
      continue;
    auto* const stack = reinterpret_cast<stack_t*>(at);
    if ((stack->ss_flags & ~SS_ONSTACK) != 0 || stack->ss_sp == here.alternate_stack ||
        !alternate_stack::is_a_kernel_threads(stack->ss_sp))
      continue;
    stack->ss_sp = here.alternate_stack;
    if (here.alternate_bytes != size) stack->ss_size = here.alternate_bytes;
    if (here.alternate_stack == nullptr) stack->ss_flags = SS_DISABLE;
  }
}
}  // namespace

void return_to_interrupted(interrupted& what, signal_state& here) noexcept {
  if (what.source != nullptr) return what.source->hold();
  if (!here.known) {
    stack_t now{};
    syscall(SYS_sigaltstack, nullptr, &now);
    learn(here, now, blocked_signals());
  }
  if (!here.ticks_held) change_blocked(SIG_BLOCK, tick_bits());
  here.ticks_held = false;
  // The frame names the alternate stack of the kernel thread on which it was made. The return from the handler would
  // install that stack here.
  auto& frame = *static_cast<ucontext_t*>(what.frame);
  if (frame.uc_stack.ss_sp == here.alternate_stack) return;  // it has not moved
  if (!what.own_stack) frame.uc_stack = description_of(here.alternate_stack, here.alternate_bytes);
  put_outer_frames_right(frame, what, here);
}

// Uses system calls, because timer_create of the C library may allocate.
const char* make(tick_timer& out, void* owner, const tick_source* source) noexcept {
  out.source = source;
  if (source != nullptr) return source->make(out, owner);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = out.signal = tick_signal.load(std::memory_order_relaxed);  // relaxed: a number
  event.sigev_value.sival_ptr = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(owner) | timer_mark);
#if defined(sigev_notify_thread_id)
  event.sigev_notify_thread_id = kernel_thread_id();
#else
  event._sigev_un._tid = kernel_thread_id();
#endif
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &out.id) == 0) return nullptr;
  out.id = -1;
  const int error = read_errno();
  if (error == EAGAIN || error == ENOMEM) {
    return "timer_create has no more: RLIMIT_SIGPENDING (ulimit -i) is reached, for each kernel thread that runs "
           "preemptive threads has a timer; "
           "raise it, or share timers by HEDDLE_PREEMPT_TIMER=chain";
  }
  return "timer_create is refused; a seccomp filter has to allow timer_create, timer_settime and timer_delete";
}

const char* why_no_timers() noexcept {
  static std::atomic<bool> there_are{false};
  if (there_are.load(std::memory_order_relaxed)) return nullptr;  // a hint
  tick_timer probe;
  const char* const why = make(probe, nullptr);
  drop(probe);
  there_are.store(why == nullptr, std::memory_order_relaxed);  // as above
  return why;
}

void set(const tick_timer& timer, nanoseconds first, nanoseconds interval) noexcept {
  if (timer.source != nullptr) return timer.source->set(timer, first, interval);
  const itimerspec when{to_timespec(interval), to_timespec(first)};
  syscall(SYS_timer_settime, timer.id, TIMER_ABSTIME, &when, nullptr);
}

void drop(tick_timer& timer) noexcept {
  if (timer.id < 0) return;
  if (timer.source != nullptr) timer.source->drop(timer);
  else syscall(SYS_timer_delete, timer.id);
  timer.id = -1;
}

}  // namespace heddle::platform
