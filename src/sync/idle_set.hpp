// The event count of the workers: which workers sleep, which search, and which to wake. Protocol and proof: sleep.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace heddle::sync {

class idle_set {
 public:
  explicit idle_set(unsigned workers)
      : words_((workers + 63) / 64), asleep_(new std::atomic<std::uint64_t>[words_] {}) {}

  // [sleep:1]: the worker is about to sleep. After this it posts its requests, executes a heavy fence, and looks at
  // every source of work once more.
  void announce(unsigned rank) noexcept {
    sleepers_.fetch_add(1);
    asleep_[rank / 64].fetch_or(bit(rank));
  }

  // Called when the worker does not sleep: it has seen work, or woke without having been chosen, or is taken by a
  // foreign kernel thread. Returns false if a waker has chosen it already, so that a wake-up will come.
  [[nodiscard]] bool retract(unsigned rank) noexcept {
    if ((asleep_[rank / 64].fetch_and(~bit(rank)) & bit(rank)) == 0) return false;
    sleepers_.fetch_sub(1);
    return true;
  }

  // [wake:3]: chooses a sleeper, from `start` upwards and around, by clearing its bit. The caller must wake it. Returns
  // -1 if no worker sleeps.
  [[nodiscard]] int choose(unsigned start) noexcept {
    for (unsigned i = 0; i <= words_; ++i) {
      const unsigned index = (start / 64 + i) % words_;
      std::uint64_t word = asleep_[index].load();
      if (i == 0) word &= ~std::uint64_t{0} << (start % 64);
      while (word != 0) {
        const std::uint64_t lowest = word & (~word + 1);
        if ((asleep_[index].fetch_and(~lowest) & lowest) != 0) {
          sleepers_.fetch_sub(1);
          return static_cast<int>(index * 64 + static_cast<unsigned>(__builtin_ctzll(lowest)));
        }
        word &= ~lowest;
      }
    }
    return -1;
  }

  bool is_asleep(unsigned rank) const noexcept { return (asleep_[rank / 64].load() & bit(rank)) != 0; }

  // [wake:1]. seq_cst: the caller has published something before.
  bool anyone_asleep() const noexcept { return sleepers_.load() > 0; }

  // [sleep:8]: a searcher calls it for itself, and a waker calls it on behalf of the sleeper that it has chosen.
  void begin_search() noexcept { searching_.fetch_add(1); }
  // [sleep:3], [wake:4].
  void end_search() noexcept { searching_.fetch_sub(1); }
  // Returns true if more than `known` workers search. seq_cst: the caller relies on the others, [wake:2].
  bool anyone_searching(int known = 0) const noexcept { return searching_.load() > known; }
  // relaxed: a hint
  unsigned searchers() const noexcept {
    return static_cast<unsigned>(std::max(searching_.load(std::memory_order_relaxed), 0));
  }

 private:
  static std::uint64_t bit(unsigned rank) noexcept { return std::uint64_t{1} << (rank % 64); }

  const unsigned words_;
  // A set bit means that the worker sleeps or is about to. The worker sets its bit; it or one other clears it
  // ([sleep:7]). The bits publish nothing.
  const std::unique_ptr<std::atomic<std::uint64_t>[]> asleep_;
  alignas(64) std::atomic<int> sleepers_{0};  // the number of bits set, except those being changed ([sleep:7])
  // The number of workers that look for work, or that have been chosen and will look.
  std::atomic<int> searching_{0};
};

}  // namespace heddle::sync
