#include "platform/comparison.hpp"
#include "platform/sim/engine.hpp"

namespace heddle::platform {

// No strand wakes a strand that sleeps here: only a tick ends the sleep.
void wait_for_tick(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  sim::engine& e = sim::here();
  e.charge(sim::activity::search, e.settings().times.sleep);
  const int nobody_wakes_this = 0;
  while (word.load() == expected) e.sleep(&nobody_wakes_this, sim::never);
}

}  // namespace heddle::platform
