// Cancellation of regions, loops and sections; that of task groups is the tasks'.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace heddle::omp {

class thread;

enum class cancels : int { nothing = 0, parallel = 1, loop = 2, sections = 3, taskgroup = 4 };

// What the members of a team have cancelled between two barriers, told by the number of the barrier's phase: so nobody
// who leaves a barrier late takes what was cancelled behind it for what it waited for ([barrier:7]).
class phase_cancellations {
 public:
  // The caller has not arrived at the end of that phase. A region outranks what is in it, and the first one the others.
  void note(std::uint32_t phase, cancels what) noexcept;
  // The caller has not arrived at the end of the phase after that one.
  [[nodiscard]] cancels in(std::uint32_t phase) const noexcept {
    const std::uint64_t word = words_[phase % 2].load(std::memory_order_acquire);  // pairs with note
    return static_cast<std::uint32_t>(word >> 32) == phase ? static_cast<cancels>(word & 0xff) : cancels::nothing;
  }
  [[nodiscard]] bool any() const noexcept {
    // relaxed: asked by a team's only member, and by its leader while no region runs
    return (words_[0].load(std::memory_order_relaxed) | words_[1].load(std::memory_order_relaxed)) != 0;
  }
  // No region runs.
  void forget() noexcept {
    if (!any()) return;
    for (auto& word : words_) word.store(0, std::memory_order_relaxed);  // published with the region
  }

 private:
  std::array<std::atomic<std::uint64_t>, 2> words_{};  // {phase:32, kind:32}; 0: nothing
};

// True: the construct is cancelled, and the caller is to leave it. Nothing where OMP_CANCELLATION is not true.
bool cancel(thread& self, cancels what);
bool is_cancelled(thread& self, cancels what) noexcept;

}  // namespace heddle::omp
