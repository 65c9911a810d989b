#include "platform/sim/cpu_watch.hpp"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "platform/platform.hpp"
#include "platform/sim/engine.hpp"

namespace heddle::sim {

namespace {

constexpr std::size_t alternate_bytes = std::size_t{256} << 10;  // the report of a stall is written there
constexpr std::uint64_t note_after = 5;                          // seconds
// The limit of real time is divided into so many parts; each in which nothing happens, and next to no CPU time is used,
// is time that the process has slept in the operating system.
constexpr unsigned parts = 4;
constexpr int of_real_time = 1;  // what the signals of that timer bring along

// Written before the timer starts, read by its handler.
std::uintptr_t own_begin = 0, own_end = 0;  // the simulator's object
unsigned stall_limit = 0;
// Handler only.
unsigned asleep_for = 0;  // parts
std::uint64_t seen_events = 0, seen_cpu = 0;
long seen_sleeps = 0;

std::uintptr_t interrupted_at(void* context) noexcept {
  const auto* c = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(c->uc_mcontext.gregs[REG_RIP]);
#else
  return c->uc_mcontext.pc;
#endif
}

// A process that waits in the operating system, for something that only another of its simulated kernel threads could
// do, uses no CPU time, so it gets no beats.
void look_at_real_time(engine& e) noexcept {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  const std::uint64_t cpu =
      static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
  const std::uint64_t next_to_none = stall_limit * 10'000'000ull / parts;  // a hundredth
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  // Each of these signals wakes who sleeps, to sleep again; a process that gets no processor has no such switches.
  const bool slept = e.counts().events == seen_events && cpu - seen_cpu < next_to_none && usage.ru_nvcsw > seen_sleeps;
  asleep_for = slept ? asleep_for + 1 : 0;
  seen_events = e.counts().events;
  seen_cpu = cpu;
  seen_sleeps = usage.ru_nvcsw;
  if (asleep_for == parts) e.stall(stall_limit, engine::stalled::in_the_system);
}

void on_beat(int, siginfo_t* info, void* context) noexcept {
  engine* const e = active;
  if (e == nullptr) return;
  const int error = errno;
  if (info->si_code == SI_TIMER && info->si_value.sival_int == of_real_time) {
    look_at_real_time(*e);
    errno = error;
    return;
  }
  const std::uintptr_t at = interrupted_at(context);
  const unsigned times = 1 + static_cast<unsigned>(std::max(info->si_overrun, 0));
  const auto [before, quiet] = e->beat(times, at < own_begin || at >= own_end);
  const std::uint64_t note_at = std::min<std::uint64_t>(note_after, stall_limit) * watch_beats_a_second;
  if (stall_limit != 0 && quiet >= stall_limit * watch_beats_a_second)
    e->stall(stall_limit, engine::stalled::computing);
  if (stall_limit > note_after && before < note_at && quiet >= note_at) {
    char text[200];
    const int length = std::snprintf(
        text, sizeof text,
        "heddle: sim: nothing but waiting, or a computation without a scheduling point, for %u s of CPU time; "
        "at %u s this run ends\n",
        static_cast<unsigned>(note_after), stall_limit);
    platform::write_error(text, static_cast<std::size_t>(std::min<int>(length, sizeof text - 1)));
  }
  errno = error;
}

int find_own_object(dl_phdr_info* object, std::size_t, void*) {
  const auto mine = reinterpret_cast<std::uintptr_t>(&find_own_object);
  std::uintptr_t first = ~std::uintptr_t{0}, last = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    first = std::min(first, object->dlpi_addr + part.p_vaddr);
    last = std::max(last, object->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  if (mine < first || mine >= last) return 0;
  own_begin = first;
  own_end = last;
  return 1;
}

void use_alternate_stack() noexcept {
  stack_t present{};
  if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
  void* memory =
      mmap(nullptr, alternate_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t mine{};
  mine.ss_sp = memory;
  mine.ss_size = alternate_bytes;
  sigaltstack(&mine, nullptr);
}

bool start_timer(clockid_t clock, int value, std::uint64_t nanoseconds) noexcept {
  sigevent how{};
  how.sigev_notify = SIGEV_SIGNAL;
  how.sigev_signo = SIGVTALRM;
  how.sigev_value.sival_int = value;
  timer_t timer;
  if (timer_create(clock, &how, &timer) != 0) return false;
  itimerspec every{};
  every.it_value.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
  every.it_value.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
  every.it_interval = every.it_value;
  return timer_settime(timer, 0, &every, nullptr) == 0;
}

bool start_timers() noexcept {
  asleep_for = 0;
  return start_timer(CLOCK_PROCESS_CPUTIME_ID, 0, 1'000'000'000 / watch_beats_a_second) &&
         (stall_limit == 0 || start_timer(CLOCK_MONOTONIC, of_real_time, stall_limit * 1'000'000'000ull / parts));
}

}  // namespace

bool watch_cpu(unsigned limit) noexcept {
  stall_limit = limit;
  dl_iterate_phdr(find_own_object, nullptr);
  use_alternate_stack();
  struct sigaction action{};
  action.sa_sigaction = on_beat;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGVTALRM, &action, nullptr) != 0) return false;
  pthread_atfork(nullptr, nullptr, [] { start_timers(); });  // timers are not inherited
  return start_timers();
}

}  // namespace heddle::sim
