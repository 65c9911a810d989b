#include "omp/core/teams/co_location.hpp"

#include <sched.h>

namespace heddle::omp {

namespace {

constexpr unsigned most_processors = 1024;  // threads on others are not counted

// Awake threads that were last seen there. All orders here are relaxed: a count that is seen late makes a thread spin
// where it could give its processor away, or the other way round, and nothing else is read by what it says.
struct alignas(64) count : std::atomic<int> {};
constinit count seen[most_processors]{};
constinit std::atomic<std::uint32_t> forks{0};

// Not sched_getcpu, which may read it from the kernel thread's own storage: user-level threads have another one.
int current_processor() noexcept {
  unsigned processor = most_processors;
  return getcpu(&processor, nullptr) == 0 && processor < most_processors ? static_cast<int>(processor) : -1;
}

}  // namespace

bool co_location::look() noexcept {
  answered_ = asked.load(std::memory_order_relaxed);
  const int now = current_processor();
  // changed only by the handler of fork(), in a child that has this one thread
  const std::uint32_t process = forks.load(std::memory_order_relaxed);
  if (now != processor_ || process != process_) {
    leave();
    process_ = process;
    processor_ = now;
    if (now >= 0) seen[now].fetch_add(1, std::memory_order_relaxed);  // a hint
  }
  return now >= 0 && seen[now].load(std::memory_order_relaxed) > 1;  // a hint
}

void co_location::leave() noexcept {
  // as in look; what a parent's thread had counted was forgotten
  if (processor_ >= 0 && process_ == forks.load(std::memory_order_relaxed))
    seen[processor_].fetch_sub(1, std::memory_order_relaxed);  // a hint
  processor_ = -1;
}

void co_location::forget_all() noexcept {
  // the child has one thread, which does this
  for (count& each : seen) each.store(0, std::memory_order_relaxed);
  forks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace heddle::omp
