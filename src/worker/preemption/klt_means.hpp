// The means by which KLT-switching puts kernel threads to sleep and finds others (preemption.md). The papers use more
// means than one. The initial value of each field is the one that heddle uses. The other values are for comparison;
// programs that compare bring the means that the library does not have (bench/comparison/README.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <heddle/export.hpp>

#include "platform/ticks.hpp"

namespace heddle::worker {

struct klt_means {
  bool straight{true};     // goes straight from a preempted thread's carrier to the next one's
  bool keeps_pools{true};  // spare carriers go to their worker's pool, bound to its processing unit
  // How a carrier sleeps with its thread until `word` is not `expected`. A tick ends the sleep. Null means a futex.
  void (*sleep)(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {nullptr};
};

// The means that a program for comparisons brings. A member that is null is absent.
struct compared_means {
  void (*sleep)(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {nullptr};  // klt_means::sleep
  const platform::tick_source* user_interrupts{nullptr};
};

// Adds the members of `means` that are not null. Must be called before a runtime is made, by static initialisers. It
// does nothing on the simulated platform, which has a sleep of its own.
HEDDLE_API void use_for_comparison(const compared_means& means) noexcept;

// Accepts "naive", "futex" and "local". For any other name it returns the means that heddle uses. Throws
// std::invalid_argument for "naive" in a program that has no such sleep.
klt_means klt_means_named(const std::string& name);
// Accepts "uintr". Returns null for any other name. Throws std::invalid_argument in a program that has none.
const platform::tick_source* tick_source_named(const std::string& name);

}  // namespace heddle::worker
