// The resources that simulated kernel threads have used: their virtual time, the costs that the program has told, and
// the counts of the memory model for them.
#include "platform/usage.hpp"

#include <algorithm>

#include "platform/platform.hpp"
#include "platform/sim/engine.hpp"

namespace heddle::platform {

namespace {

sim::picoseconds spent_by(const sim::strand& s) noexcept { return s.spent[0] + s.spent[1] + s.spent[2]; }

}  // namespace

void open_counters(usage_counters&, const policy::usage_figures& wanted) noexcept {
  if (wanted.misses || wanted.accesses) sim::here().costs().count_memory();
}
void close_counters(usage_counters&) noexcept {}

usage_reading read_usage(const usage_counters&, const policy::usage_figures& wanted) noexcept {
  usage_reading now;
  static_cast<void>(sim::here().now());  // includes what was computed since the last point
  const sim::strand& me = sim::here().self();
  const sim::memory_counts& known = sim::here().costs().known_of_memory();
  const auto set = [&](usage_reading::figure at, std::uint64_t value, bool known) {
    if (!known) return;
    now.value[at] = value;
    now.from[at] = policy::source::simulated;
  };
  set(usage_reading::processor_time, spent_by(me) / sim::nanosecond, wanted.processor_time);
  set(usage_reading::instructions, static_cast<std::uint64_t>(me.cycles_told), wanted.instructions);
  set(usage_reading::private_misses, me.memory.private_misses, wanted.misses && known.has_private);
  set(usage_reading::shared_misses, me.memory.shared_misses, wanted.misses && known.has_shared);
  set(usage_reading::local_accesses, me.memory.local, wanted.accesses && known.has_nodes);
  set(usage_reading::remote_accesses, me.memory.remote, wanted.accesses && known.has_nodes);
  return now;
}

// A strand that computes is ahead of the caller's clock by the part that it was charged at once.
nanoseconds processor_time_of(int kernel_thread) noexcept {
  sim::engine& e = sim::here();
  const auto id = static_cast<std::size_t>(kernel_thread) - 1;
  if (id >= e.strands().size()) return 0;
  const sim::strand& s = *e.strands()[id];
  const sim::picoseconds ahead = s.state == sim::strand_state::ready && s.time > e.now() ? s.time - e.now() : 0;
  return (spent_by(s) - std::min(spent_by(s), ahead)) / sim::nanosecond;
}

bool sleeps_in_system_call(int kernel_thread) noexcept {
  const auto id = static_cast<std::size_t>(kernel_thread) - 1;
  const sim::engine& e = sim::here();
  return id < e.strands().size() && e.strands()[id]->state == sim::strand_state::asleep;
}

}  // namespace heddle::platform
