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

std::uint64_t measure_tick_rate() noexcept {
  const nanoseconds start = read_clock(CLOCK_MONOTONIC);
  const std::uint64_t first = ticks();
  nanoseconds passed = 0;
  while (passed < 200'000) passed = read_clock(CLOCK_MONOTONIC) - start;
  const std::uint64_t rate = (ticks() - first) * 1000 / passed;
  return rate == 0 ? 1 : rate;
}

}  // namespace

nanoseconds now() noexcept { return read_clock(CLOCK_MONOTONIC); }

nanoseconds process_cpu_time() noexcept { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

std::uint64_t ticks_per_microsecond() noexcept {
  // No static's guard: see kernel_thread.cpp. Two threads may both measure.
  static std::atomic<std::uint64_t> kept{0};
  std::uint64_t rate = kept.load();
  if (rate == 0) kept.store(rate = measure_tick_rate());
  return rate;
}

}  // namespace heddle::platform
