#include <heddle/detail/loop_site.hpp>

#include <algorithm>

#include "platform/platform.hpp"

namespace heddle::detail {

namespace {

constexpr std::uint32_t first_penalty = 64;  // loops
constexpr std::uint32_t most_setbacks = 12;
constexpr std::uint64_t lasting_us = 5000;  // trust that lasted this long was justified
// Cycles. Below this, the time stamps themselves are much of the measurement.
constexpr float unclear = 200;

}  // namespace

constinit std::atomic<std::uint32_t> loop_cycles_per_microsecond{0};
constinit const virtual_clock loop_virtual_cycles = platform::simulated ? platform::cycles : nullptr;

// All accesses are to hints; see the header.
void loop_site::correct(std::size_t n, float cycles) noexcept {
  if (n == 0) return;  // a loop that was stopped before its first batch says nothing
  const float cost = cost_.load(std::memory_order_relaxed);
  const float measured = std::max(cycles - slack / 4, 0.1f) / static_cast<float>(n);
  if (cost <= 0) return cost_.store(measured, std::memory_order_relaxed);
  // The cost rises in steps, so that a single interruption by the kernel does not count as much as the loops before it.
  if (measured > cost && cycles > unclear) cost_.store(std::min(measured, 8 * cost), std::memory_order_relaxed);
  if (measured < cost) cost_.store(measured, std::memory_order_relaxed);
}

// All accesses are relaxed: hints, of the thread that stored last. A place whose ends come from two surprises makes the
// site uneven too early or too late, for 64 loops.
void loop_site::surprise(std::size_t low, std::size_t high, std::size_t n, std::uint64_t cycles) noexcept {
  const std::uint32_t state = uneven_.load(std::memory_order_relaxed);
  const bool same_loop = state == soon || state == 2 * soon;
  // relaxed: two ends of different surprises are a wrong hint, as said above
  const bool same_place = state != 0 && low <= surprise_high_.load(std::memory_order_relaxed) &&
                          high >= surprise_low_.load(std::memory_order_relaxed);
  if (same_place && !same_loop) {
    // the number of loops since the last surprise
    const std::uint32_t loops = (state > soon ? 2 * soon : soon) - state;
    const float work = cost_.load(std::memory_order_relaxed) * static_cast<float>(n) * static_cast<float>(loops);
    if (static_cast<float>(cycles) * worth_balancing > work) return uneven_.store(2 * soon, std::memory_order_relaxed);
  }
  // Of two dear places in a loop the first one is remembered.
  if (state > soon || same_loop) return;
  surprise_low_.store(low, std::memory_order_relaxed);
  surprise_high_.store(high, std::memory_order_relaxed);
  uneven_.store(soon, std::memory_order_relaxed);
}

void loop_site::misjudged() noexcept {
  // All accesses are relaxed: independent estimates. A lost or stale one changes how a later loop is cut, never what it
  // computes.
  const std::uint64_t now = loop_cycles();
  const std::uint64_t lasted = now - trusted_since_.load(std::memory_order_relaxed);
  const std::uint64_t rate = loop_cycles_per_microsecond.load(std::memory_order_relaxed);  // as above, and below
  const std::uint32_t setbacks = lasted > lasting_us * rate ? 0 : setbacks_.load(std::memory_order_relaxed);
  distrust_.store(first_penalty << setbacks, std::memory_order_relaxed);
  setbacks_.store(std::min(setbacks + 1, most_setbacks), std::memory_order_relaxed);
}

}  // namespace heddle::detail
