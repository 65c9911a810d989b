#include "omp/core/whereabouts.hpp"

#include <sched.h>

namespace heddle::omp {

namespace {

constexpr unsigned most_processors = 1024;  // threads on others are not counted

// Awake threads that were last seen there. Hints: relaxed.
constinit std::atomic<int> seen[most_processors]{};
constinit std::atomic<std::uint32_t> forks{0};

// Not sched_getcpu, which may read it from the kernel thread's own storage: user-level threads have another one.
int current_processor() noexcept {
  unsigned processor = most_processors;
  return getcpu(&processor, nullptr) == 0 && processor < most_processors ? static_cast<int>(processor) : -1;
}

}  // namespace

bool whereabouts::look() noexcept {
  answered_ = asked.load(std::memory_order_relaxed);
  const int now = current_processor();
  const std::uint32_t process = forks.load(std::memory_order_relaxed);
  if (now != processor_ || process != process_) {
    leave();
    process_ = process;
    processor_ = now;
    if (now >= 0) seen[now].fetch_add(1, std::memory_order_relaxed);
  }
  return now >= 0 && seen[now].load(std::memory_order_relaxed) > 1;
}

void whereabouts::leave() noexcept {
  if (processor_ >= 0 && process_ == forks.load(std::memory_order_relaxed))
    seen[processor_].fetch_sub(1, std::memory_order_relaxed);
  processor_ = -1;
}

void whereabouts::forget_all() noexcept {
  for (std::atomic<int>& each : seen) each.store(0, std::memory_order_relaxed);
  forks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace heddle::omp
