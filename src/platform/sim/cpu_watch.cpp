#include "platform/sim/cpu_watch.hpp"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
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

// Written before the timer starts, read by its handler.
std::uintptr_t own_begin = 0, own_end = 0;  // the simulator's shared object
unsigned stall_limit = 0;

std::uintptr_t interrupted_at(void* context) noexcept {
  const auto* c = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(c->uc_mcontext.gregs[REG_RIP]);
#else
  return c->uc_mcontext.pc;
#endif
}

void on_beat(int, siginfo_t* info, void* context) noexcept {
  engine* const e = active;
  if (e == nullptr) return;
  const int error = errno;
  const std::uintptr_t at = interrupted_at(context);
  const unsigned times = 1 + static_cast<unsigned>(std::max(info->si_overrun, 0));
  const auto [before, quiet] = e->beat(times, at < own_begin || at >= own_end);
  const std::uint64_t note_at = std::min<std::uint64_t>(note_after, stall_limit) * watch_beats_a_second;
  if (stall_limit != 0 && quiet >= stall_limit * watch_beats_a_second) e->stall(stall_limit);
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

bool start_timer() noexcept {
  sigevent how{};
  how.sigev_notify = SIGEV_SIGNAL;
  how.sigev_signo = SIGVTALRM;
  timer_t timer;
  if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &how, &timer) != 0) return false;
  itimerspec every{};
  every.it_interval.tv_nsec = every.it_value.tv_nsec = 1'000'000'000 / static_cast<long>(watch_beats_a_second);
  return timer_settime(timer, 0, &every, nullptr) == 0;
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
  pthread_atfork(nullptr, nullptr, [] { start_timer(); });  // timers are not inherited
  return start_timer();
}

}  // namespace heddle::sim
