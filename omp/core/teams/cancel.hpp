// Cancellation of regions, loops and sections. Cancellation of task groups belongs to the tasks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace heddle::omp {

class thread;

enum class cancels : int { nothing = 0, parallel = 1, loop = 2, sections = 3, taskgroup = 4 };

// The constructs that the members of a team have cancelled between two barriers, recorded by the number of the
// barrier's phase. So a member that leaves a barrier late does not take a cancellation behind the barrier for one
// before it ([barrier:7]).
class phase_cancellations {
 public:
  // The caller must not have arrived at the end of that phase. A region outranks the constructs in it, and the first
  // cancellation of equal rank outranks later ones.
  void note(std::uint32_t phase, cancels what) noexcept;
  // The caller must not have arrived at the end of the phase after `phase`.
  [[nodiscard]] cancels in(std::uint32_t phase) const noexcept {
    const std::uint64_t word = words_[phase % 2].load(std::memory_order_acquire);  // pairs with note
    return static_cast<std::uint32_t>(word >> 32) == phase ? static_cast<cancels>(word & 0xff) : cancels::nothing;
  }
  [[nodiscard]] bool any() const noexcept {
    // relaxed: called by a team's only member, or by its leader while no region runs
    return (words_[0].load(std::memory_order_relaxed) | words_[1].load(std::memory_order_relaxed)) != 0;
  }
  // Must be called while no region runs.
  void forget() noexcept {
    if (!any()) return;
    for (auto& word : words_) word.store(0, std::memory_order_relaxed);  // published with the region
  }

 private:
  std::array<std::atomic<std::uint64_t>, 2> words_{};  // {phase:32, kind:32}; 0 means nothing
};

// Return true if the construct is cancelled, and the caller must leave it. They do nothing unless OMP_CANCELLATION is
// true.
bool cancel(thread& self, cancels what);
bool is_cancelled(thread& self, cancels what) noexcept;

}  // namespace heddle::omp
