// Where tasks ran last, by their identities (steal_tree.hpp). An answer is a hint: a table of fixed size has one
// entry for several identities, and the last one that was noted is known. A component; locality_ws holds one.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <heddle/policy.hpp>

namespace heddle::policy {

class affinity_memory {
 public:
  // Remembers at least so many tasks, if their identities fall well. It allocates, and may throw.
  void start(unsigned tasks) {
    const std::size_t count = std::bit_ceil(std::size_t{tasks});
    entries_ = std::make_unique<std::atomic<std::uint64_t>[]>(count);
    mask_ = count - 1;
  }

  // The worker where the task with that identity began last, or `nobody` if it is not known.
  unsigned worker_of(std::uint64_t identity) const noexcept {
    const std::uint64_t found = entry_of(identity).load(std::memory_order_relaxed);  // a hint, which is one word
    if (((found ^ identity) & ~worker_bits) != 0) return nobody;
    return static_cast<unsigned>(found & worker_bits) - 1;  // an entry of 0 knows nobody
  }
  void note(std::uint64_t identity, unsigned worker) noexcept {
    std::atomic<std::uint64_t>& place = entry_of(identity);
    const std::uint64_t entry = (identity & ~worker_bits) | ((worker + 1) & worker_bits);
    // relaxed: as in worker_of. A task that runs where it ran before writes nothing, and so takes no line away.
    if (place.load(std::memory_order_relaxed) != entry) place.store(entry, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t worker_bits = 0xffff;
  std::atomic<std::uint64_t>& entry_of(std::uint64_t identity) const noexcept {
    return entries_[(identity >> 16) & mask_];  // the bits that an entry keeps
  }

  std::unique_ptr<std::atomic<std::uint64_t>[]> entries_;  // the identity without its low bits, then the rank plus 1
  std::size_t mask_{0};
};

}  // namespace heddle::policy
