// The locks of atomic accesses that the processor has no instruction for.
#include "omp/core/locks/atomic.hpp"

#include <heddle/mutex.hpp>

#include "omp/core/locks/kept.hpp"

namespace heddle::omp::atomics {

namespace {

constexpr std::size_t stripes = 128;  // addresses that share one are those of neighbours far apart

struct alignas(64) stripe {
  heddle::mutex lock;
};

struct stripe_table {
  stripe all[stripes + 1];
};
constinit kept<stripe_table> table;  // destructors of static objects have atomic regions, too
[[maybe_unused]] const bool told_of_forks = forget_in_children<table>();

}  // namespace

heddle::mutex& lock_of(const void* where) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(where);
  return table.object.all[(address >> 4 ^ address >> 11) % stripes].lock;
}

heddle::mutex& lock_of_regions() noexcept { return table.object.all[stripes].lock; }

void locked(const void* where, void (*body)(void* argument), void* argument) {
  heddle::mutex& lock = lock_of(where);
  lock.lock();
  body(argument);
  lock.unlock();
}

}  // namespace heddle::omp::atomics
