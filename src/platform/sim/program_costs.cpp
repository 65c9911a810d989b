#include "platform/sim/program_costs.hpp"

#include <algorithm>

#include "platform/sim/engine.hpp"

namespace heddle::sim {

// --- told --------------------------------------------------------------------------------------------------------

void program_costs::cycles(double n) noexcept {
  strand& me = engine_.self();
  me.stretch.told = true;
  if (!(n > 0)) return;          // a NaN costs nothing, either
  constexpr double most = 1e17;  // ps, some 28 hours; a hundred such charges stay in the clock's range
  const double time = std::min(n * 1000 / engine_.settings().frequency + 0.5, most);
  me.cycles_told += std::min(n, most);
  const auto cost = static_cast<picoseconds>(time);
  if (engine_.settings().window == 0) return engine_.charge(activity::program, cost);
  take_measured();
  ++engine_.counts().events;
  engine_.progress_.was_made();
  const picoseconds scaled = engine_.scaled(cost);
  engine_.advance(activity::program, scaled - me.stretch.overlap.hide_arithmetic(scaled));
  mark();
}

// The part of the time of lines that is left beside the arithmetic told before them.
picoseconds program_costs::behind_arithmetic(picoseconds cost, std::uint64_t lines) noexcept {
  const picoseconds window = engine_.settings().window;
  if (window == 0) return cost;
  return cost - engine_.self().stretch.overlap.hide_lines(cost, engine_.scaled(lines * window));
}

// The unit whose caches the running strand uses.
unsigned program_costs::unit_of_caches() const noexcept {
  const strand& me = engine_.self();
  return static_cast<unsigned>(std::max(me.unit < 0 ? me.last_unit : me.unit, 0));
}

void program_costs::access(std::uint64_t address, std::uint64_t bytes, bool write) noexcept {
  const configuration& c = engine_.settings();
  engine_.self().stretch.told = true;
  if (c.access == nullptr || bytes == 0) return;
  take_measured();
  const std::uint64_t end = address + bytes;
  while (address < end) {
    engine_.begin_access();
    const std::uint64_t step = std::min(access_step - address % access_step, end - address);
    const unsigned on = unit_of_caches();
    strand& me = engine_.self();
    const picoseconds at = me.time - engine::origin;
    const std::uint64_t first = address >> c.line_bits, last = (address + step - 1) >> c.line_bits;
    const continued how = me.streams.go_on(first, last);
    const picoseconds cost = counted(on, [&] { return c.access(c.memory, on, address, step, write, how, at); });
    engine_.advance(activity::program, behind_arithmetic(cost, last - first + 1));
    address += step;
  }
  mark();
}

void program_costs::access_rows(rows* sets, std::size_t set_count, std::uint64_t count) noexcept {
  const configuration& c = engine_.settings();
  engine_.self().stretch.told = true;
  if (c.access_rows == nullptr) return;
  take_measured();
  std::uint64_t bytes = 1, lines = 0;
  for (std::size_t i = 0; i < set_count; ++i) {
    bytes += sets[i].bytes;
    lines += (sets[i].bytes + (std::uint64_t{1} << c.line_bits) - 1) >> c.line_bits;
  }
  // The steps are long enough that the lines of a leaf overlap, and short beside the memory model's history.
  const std::uint64_t most = std::max<std::uint64_t>(16 * access_step / bytes, 1);
  for (std::uint64_t left = count; left != 0;) {
    engine_.begin_access();
    const std::uint64_t step = std::min(most, left);
    const unsigned on = unit_of_caches();
    const picoseconds at = engine_.self().time - engine::origin;
    const picoseconds cost = counted(on, [&] { return c.access_rows(c.memory, on, sets, set_count, step, at); });
    engine_.advance(activity::program, behind_arithmetic(cost, step * lines));
    for (std::size_t i = 0; i < set_count; ++i) sets[i].address += step * sets[i].stride;
    left -= step;
  }
  mark();
}

// --- measured ----------------------------------------------------------------------------------------------------

void program_costs::begin_to_measure() noexcept {
  measured_ = true;
  meter_.start();
}

void program_costs::measure() noexcept {
  const picoseconds took = meter_.lap();
  if (engine_.in_program()) engine_.spend(activity::program, engine_.scaled(took));
}

void program_costs::declare() noexcept {
  if (engine_.settings().charge != charging::automatic || !measured_) return;
  measured_ = false;
  if (engine_.strands().size() > 1) return;
  // The static initialisation of the program was free, because nothing has been told of it.
  strand& me = engine_.self();
  me.time = engine::origin;
  me.used = 0;
  me.spent[0] = 0;
}

// --- counted -----------------------------------------------------------------------------------------------------

void program_costs::count_memory() noexcept {
  const configuration& c = engine_.settings();
  if (c.counts == nullptr) return;
  c.counts(c.memory, 0, known_of_memory_);
  counts_memory_ = true;
}

// Other strands use the unit's caches, too, so the unit's counts do not belong to one strand. The difference over this
// access does.
picoseconds program_costs::counted_access(unsigned on, picoseconds (*access)(void*), void* of) noexcept {
  const configuration& c = engine_.settings();
  memory_counts before, after;
  c.counts(c.memory, on, before);
  const picoseconds took = access(of);
  c.counts(c.memory, on, after);
  memory_counts& mine = engine_.self().memory;
  mine.private_misses += after.private_misses - before.private_misses;
  mine.shared_misses += after.shared_misses - before.shared_misses;
  mine.local += after.local - before.local;
  mine.remote += after.remote - before.remote;
  return took;
}

}  // namespace heddle::sim
