// Clocks that show virtual time. None of them is a scheduling point: traces read them anywhere.
#include "platform/platform.hpp"
#include "platform/sim/engine.hpp"

namespace heddle::platform {

namespace {

constexpr std::uint64_t cycles_a_nanosecond = 2;

}  // namespace

nanoseconds now() noexcept { return sim::here().now() / sim::nanosecond; }

std::uint64_t cycles() noexcept { return sim::here().now() / (sim::nanosecond / cycles_a_nanosecond); }
std::uint64_t cycles_per_microsecond() noexcept { return cycles_a_nanosecond * 1000; }

nanoseconds process_cpu_time() noexcept {
  sim::picoseconds sum = 0;
  for (const auto& s : sim::here().strands()) sum += s->used;
  return sum / sim::nanosecond;
}

}  // namespace heddle::platform
