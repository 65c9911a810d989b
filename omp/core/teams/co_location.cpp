#include "omp/core/teams/co_location.hpp"

#include <sched.h>

namespace heddle::omp {

namespace {

constexpr unsigned most_processors = 1024;  // threads on further processors are not counted

// The number of awake threads that were last seen on each processor. All orders here are relaxed. A count that is seen
// late makes a thread spin where it could give its processor away, or the other way round, and nothing else is read
// because of it.
struct alignas(64) count : std::atomic<int> {};
constinit count seen[most_processors]{};
constinit std::atomic<std::uint32_t> forks{0};

// sched_getcpu is not used, because it may read the number from the kernel thread's own storage, and user-level threads
// have another storage.
int current_processor() noexcept {
  unsigned processor = most_processors;
  return getcpu(&processor, nullptr) == 0 && processor < most_processors ? static_cast<int>(processor) : -1;
}

}  // namespace

bool co_location::look() noexcept {
  answered_ = asked.load(std::memory_order_relaxed);
  const int now = current_processor();
  // relaxed: changed only by the handler of fork(), in a child that has only this thread
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
  // relaxed as in look; the counts of a parent's threads were forgotten
  if (processor_ >= 0 && process_ == forks.load(std::memory_order_relaxed))
    seen[processor_].fetch_sub(1, std::memory_order_relaxed);  // a hint
  processor_ = -1;
}

void co_location::forget_all() noexcept {
  // relaxed: the child has one thread, which does this
  for (count& each : seen) each.store(0, std::memory_order_relaxed);
  forks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace heddle::omp
