// The counts of what the OpenMP threads of a process have done. They are printed in the line that HEDDLE_OMP_STATS asks
// for at the end of the program. Each thread counts for itself, in its descriptor, which outlives it; the sums are made
// when the process ends.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::omp {

// One of a thread's counts. Only that thread writes it, so an increment is a load and a store, no more than for a plain
// variable. It is atomic because the end of the process may read it while the thread goes on.
class own_count {
 public:
  void add(std::uint64_t more = 1) noexcept {
    // both relaxed: a number of its own, which publishes nothing
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void raise_to(std::uint64_t least) noexcept {
    if (value_.load(std::memory_order_relaxed) < least) value_.store(least, std::memory_order_relaxed);
  }
  void clear() noexcept { value_.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// The type of thread::did.
struct thread_counts {
  own_count regions;  // regions that it has encountered
  own_count members;  // members of all these regions, itself included
  own_count largest;  // the largest team among them
  own_count deepest;  // omp_get_level() in the innermost region
  own_count tasks;    // explicit tasks that it has made
  own_count steals;   // tasks that it has taken from other threads
  own_count spun;     // nanoseconds of waiting without giving its processor away

  void region(unsigned size, int level) noexcept {
    regions.add();
    members.add(size);
    largest.raise_to(size);
    deepest.raise_to(static_cast<std::uint64_t>(level));
  }
  void clear() noexcept {
    for (own_count* each : {&regions, &members, &largest, &deepest, &tasks, &steals, &spun}) each->clear();
  }
};

}  // namespace heddle::omp
