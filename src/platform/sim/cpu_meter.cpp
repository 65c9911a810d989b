#include "platform/sim/cpu_meter.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace heddle::sim {

namespace {

// Reads the system's clocks, not the ones that the simulator puts in their place.
std::uint64_t system_clock(clockid_t clock) noexcept {
  timespec t{};
  syscall(SYS_clock_gettime, clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

// In an interval this long the process may have lost its processor. In a shorter one that is unlikely, because the
// kernel's time slices are longer.
constexpr double suspicious = 50e6;        // picoseconds
constexpr double compared_every = 1000e6;  // limits the error that adds up from the counter's rate

}  // namespace

std::uint64_t cpu_meter::counter() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

void cpu_meter::start() noexcept {
  const std::uint64_t begin = system_clock(CLOCK_MONOTONIC);
  const std::uint64_t first = counter();
  std::uint64_t passed = 0;
  while (passed < 500'000) passed = system_clock(CLOCK_MONOTONIC) - begin;
  picoseconds_per_count_ = static_cast<double>(passed) * 1000 / static_cast<double>(counter() - first);
  overhead_ = ~std::uint64_t{0};
  for (int i = 0; i < 1000; ++i) {
    mark();
    overhead_ = std::min(overhead_, counter() - mark_);
  }
  checked_cpu_ = system_clock(CLOCK_THREAD_CPUTIME_ID);
  checked_ = counter();
  mark();
}

picoseconds cpu_meter::lap() noexcept {
  std::uint64_t now = counter();
  const std::uint64_t counts = now - mark_;
  if (counts <= overhead_) {
    mark_ = now;
    return 0;
  }
  double took = static_cast<double>(counts - overhead_) * picoseconds_per_count_;
  if (took > suspicious || static_cast<double>(now - checked_) * picoseconds_per_count_ > compared_every) {
    // The clock is read before the counter. If the processor is lost between the two, both `took` and `lost` contain
    // it.
    const std::uint64_t cpu = system_clock(CLOCK_THREAD_CPUTIME_ID);
    now = counter();
    took = static_cast<double>(now - mark_ - overhead_) * picoseconds_per_count_;
    const double lost =
        static_cast<double>(now - checked_) * picoseconds_per_count_ - static_cast<double>(cpu - checked_cpu_) * 1000;
    if (lost > 0) took = std::max(took - lost, 0.0);
    checked_ = now;
    checked_cpu_ = cpu;
  }
  mark_ = now;
  return static_cast<picoseconds>(took);
}

}  // namespace heddle::sim
