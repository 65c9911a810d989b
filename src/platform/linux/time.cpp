#include <sys/resource.h>

#include <atomic>
#include <ctime>

#include "platform/platform.hpp"

namespace heddle::platform {

namespace {

nanoseconds read_clock(clockid_t clock) noexcept {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<nanoseconds>(time.tv_sec) * 1'000'000'000u + static_cast<nanoseconds>(time.tv_nsec);
}

struct moment {
  nanoseconds clock;
  std::uint64_t ticks;
};

// Reads both counters at one time. Of several readings the quickest is taken, because a preemption between the two
// reads would make the rate wrong by any factor, and with it every spin of the process.
moment read_both() noexcept {
  moment best{};
  std::uint64_t least = 0;
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = cycles();
    const nanoseconds clock = read_clock(CLOCK_MONOTONIC);
    const std::uint64_t took = cycles() - before;
    if (i != 0 && took >= least) continue;
    least = took;
    best = {clock, before};
  }
  return best;
}

// When the library was loaded. Code that runs before that, which is the initialisation of other sources, finds 0.
const moment loaded = read_both();

// As a rule enough time has passed since then. Otherwise it has to be waited for.
std::uint64_t measure_tick_rate() noexcept {
  const moment first = loaded.clock != 0 ? loaded : read_both();
  while (read_clock(CLOCK_MONOTONIC) - first.clock < 200'000) {
  }
  const moment last = read_both();
  const double microseconds = static_cast<double>(last.clock - first.clock) / 1000;
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(last.ticks - first.ticks) / microseconds + 0.5);
  return rate == 0 ? 1 : rate;
}

}  // namespace

nanoseconds now() noexcept { return read_clock(CLOCK_MONOTONIC); }

usage used_so_far() noexcept {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);  // its times may be those of the kernel's last tick
  return {read_clock(CLOCK_THREAD_CPUTIME_ID), static_cast<std::uint32_t>(used.ru_nvcsw)};
}

nanoseconds process_cpu_time() noexcept { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

std::uint64_t cycles() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

std::uint64_t cycles_per_microsecond() noexcept {
  // No static's guard is used: see kernel_thread.cpp. Two threads may both measure.
  static std::atomic<std::uint64_t> kept{0};
  std::uint64_t rate = kept.load();
  if (rate == 0) kept.store(rate = measure_tick_rate());
  return rate;
}

}  // namespace heddle::platform
