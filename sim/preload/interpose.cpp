// Functions of the C library that would show a simulated program the machine on which it really runs, or block the one
// kernel thread. LD_PRELOAD puts them before the C library's.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <heddle/detail/cost_model.hpp>
#include <heddle/export.hpp>

#include "platform/sim/engine.hpp"

using heddle::sim::active;
using heddle::sim::engine;
using heddle::sim::nanosecond;
using heddle::sim::picoseconds;

namespace {

// CLOCK_REALTIME of a simulated program begins on 2000-01-01, the same in each run.
constexpr std::uint64_t epoch = 946'684'800;

picoseconds read(clockid_t clock) noexcept {
  engine& e = *active;
  e.charge(heddle::sim::activity::program, e.settings().times.clock);
  switch (clock) {
    case CLOCK_THREAD_CPUTIME_ID: return e.self().used;
    case CLOCK_PROCESS_CPUTIME_ID: {
      picoseconds sum = 0;
      for (const auto& s : e.strands()) sum += s->used;
      return sum;
    }
    default: return e.now();
  }
}

bool shows_real_time(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

void split(picoseconds time, timespec& into) noexcept {
  into.tv_sec = static_cast<time_t>(time / (1'000'000'000 * nanosecond));
  into.tv_nsec = static_cast<long>(time / nanosecond % 1'000'000'000);
}

picoseconds joined(const timespec& t) noexcept {
  return (static_cast<picoseconds>(t.tv_sec) * 1'000'000'000 + static_cast<picoseconds>(t.tv_nsec)) * nanosecond;
}

void sleep_until(picoseconds time) noexcept {
  engine& e = *active;
  e.charge(heddle::sim::activity::search, e.settings().times.sleep);
  const int nobody_wakes_this = 0;
  while (e.now() < time) e.sleep(&nobody_wakes_this, time);
}

}  // namespace

extern "C" {

HEDDLE_API int clock_gettime(clockid_t clock, timespec* into) noexcept {
  if (active == nullptr) return static_cast<int>(syscall(SYS_clock_gettime, clock, into));
  split(read(clock), *into);
  if (shows_real_time(clock)) into->tv_sec += static_cast<time_t>(epoch);
  return 0;
}

HEDDLE_API int gettimeofday(timeval* into, void*) noexcept {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  *into = {t.tv_sec, t.tv_nsec / 1000};
  return 0;
}

HEDDLE_API time_t time(time_t* into) noexcept {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  if (into != nullptr) *into = t.tv_sec;
  return t.tv_sec;
}

HEDDLE_API clock_t clock() noexcept {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<clock_t>(t.tv_sec) * CLOCKS_PER_SEC +
         static_cast<clock_t>(t.tv_nsec) / (1'000'000'000 / CLOCKS_PER_SEC);
}

// The times are those of simulated kernel threads; all other counts are this process's.
HEDDLE_API int getrusage(__rusage_who_t who, rusage* into) noexcept {
  const long result = syscall(SYS_getrusage, who, into);
  if (active == nullptr || result != 0 || who == RUSAGE_CHILDREN) return static_cast<int>(result);
  const picoseconds used = read(who == RUSAGE_SELF ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID);
  into->ru_utime = {static_cast<time_t>(used / (1'000'000'000 * nanosecond)),
                    static_cast<suseconds_t>(used / (1000 * nanosecond) % 1'000'000)};
  into->ru_stime = {};
  return 0;
}

HEDDLE_API int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted, timespec* left) {
  if (active == nullptr) {
    const long result = syscall(SYS_clock_nanosleep, clock, flags, wanted, left);
    return result == 0 ? 0 : errno;
  }
  if (wanted->tv_nsec < 0 || wanted->tv_nsec >= 1'000'000'000 || wanted->tv_sec < 0) return EINVAL;
  picoseconds until = joined(*wanted);
  if ((flags & TIMER_ABSTIME) == 0) until += active->now();
  else if (shows_real_time(clock)) until -= std::min(until, epoch * 1'000'000'000 * nanosecond);
  sleep_until(until);
  return 0;
}

HEDDLE_API int nanosleep(const timespec* wanted, timespec* left) {
  const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, wanted, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

HEDDLE_API int usleep(useconds_t microseconds) {
  const timespec t{static_cast<time_t>(microseconds / 1'000'000), static_cast<long>(microseconds % 1'000'000) * 1000};
  return nanosleep(&t, nullptr);
}

HEDDLE_API unsigned sleep(unsigned seconds) {
  const timespec t{static_cast<time_t>(seconds), 0};
  nanosleep(&t, nullptr);
  return 0;
}

HEDDLE_API int sched_yield() noexcept {
  if (active == nullptr) return static_cast<int>(syscall(SYS_sched_yield));
  active->yield();
  return 0;
}

// Serves std::thread::hardware_concurrency.
HEDDLE_API int get_nprocs() noexcept {
  if (active == nullptr) return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return static_cast<int>(active->settings().units.size());
}

// Refused, because a kernel thread of the program's own would run beside virtual time, and take heddle's locks on the
// wrong kernel thread.
HEDDLE_API int pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*entry)(void*),
                              void* argument) {
  if (active == nullptr) {
    static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return real(made, attributes, entry, argument);
  }
  std::fputs(
      "heddle: sim: the program starts a kernel thread of its own (std::thread, pthread_create, std::async or a "
      "library), which cannot be "
      "simulated; use heddle::thread, or leave that part out of the simulated run\n",
      stderr);
  std::fflush(nullptr);
  std::_Exit(2);
}

// A block that malloc mapped by itself goes back to the system, so its pages lose their node.
extern void __libc_free(void*);
HEDDLE_API void free(void* memory) noexcept {
  constexpr std::size_t mapped_bit = 2;  // a bit of the word before the block: glibc's malloc.c, IS_MMAPPED
  if (memory != nullptr && heddle_cost != nullptr) {
    const std::size_t header = static_cast<const std::size_t*>(memory)[-1];
    if ((header & mapped_bit) != 0) heddle_cost->forget(memory, header & ~std::size_t{7});
  }
  __libc_free(memory);
}

}  // extern "C"
