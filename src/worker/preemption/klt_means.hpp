// How KLT-switching puts kernel threads to sleep and finds others, where the papers do it in more ways than one
// (preemption.md). A field holds from the start what is used. All else serves comparisons, and programs that compare
// bring what the library does not have: bench/comparison/README.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <heddle/export.hpp>

#include "platform/ticks.hpp"

namespace heddle::worker {

struct klt_means {
  bool straight{true};     // from a preempted thread's carrier straight to the next one's
  bool keeps_pools{true};  // spare carriers go to a pool of their worker's, bound to its processing unit
  // How a carrier sleeps with its thread until `word` is not `expected`; a tick ends the sleep. Null: by a futex.
  void (*sleep)(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {nullptr};
};

// What a program that compares brings. A member that is null is not there.
struct compared_means {
  void (*sleep)(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {nullptr};  // klt_means::sleep
  const platform::tick_source* user_interrupts{nullptr};
};

// Adds the members of `means` that are not null. Must be called before a runtime is made, by static initialisers. It
// does nothing on the simulated platform, which has a sleep of its own.
HEDDLE_API void use_for_comparison(const compared_means& means) noexcept;

// Returns "naive", "futex", "local", or what is used for any other name. Throws std::invalid_argument for "naive" in a
// program that has no such sleep.
klt_means klt_means_named(const std::string& name);
// Returns the source "uintr", or null for any other name. Throws std::invalid_argument in a program that has none.
const platform::tick_source* tick_source_named(const std::string& name);

}  // namespace heddle::worker
