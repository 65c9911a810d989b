// The costs of the program's own code: those that it tells (heddle/cost.hpp), or else its CPU time; and the cost of its
// accesses in lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/sim/configuration.hpp"
#include "platform/sim/cpu_meter.hpp"
#include "platform/sim/strand.hpp"

namespace heddle::sim {

class engine;

// All functions are about the running strand.
class program_costs {
 public:
  explicit program_costs(engine& of) noexcept : engine_(of) {}
  program_costs(const program_costs&) = delete;
  program_costs& operator=(const program_costs&) = delete;

  // --- told ---
  void cycles(double n) noexcept;
  void access(std::uint64_t address, std::uint64_t bytes, bool write) noexcept;
  void access_rows(rows* sets, std::size_t set_count, std::uint64_t count) noexcept;  // advances the sets
  // Called when the program declares that it tells its costs. Everything that it does not tell is free from then on,
  // and so is everything that it did so far.
  void declare() noexcept;

  // --- measured: the CPU time between two marks ---
  void begin_to_measure() noexcept;
  bool are_measured() const noexcept { return measured_; }
  void take_measured() noexcept {
    if (measured_) [[unlikely]]
      measure();
  }
  void mark() noexcept {
    if (measured_) [[unlikely]]
      meter_.mark();
  }

  // --- counted ---
  // From this call on each strand has the counts of its own accesses (strand::memory). Changes no time.
  void count_memory() noexcept;
  // Says by its has_ members which figures the machine has.
  const memory_counts& known_of_memory() const noexcept { return known_of_memory_; }

 private:
  void measure() noexcept;
  picoseconds behind_arithmetic(picoseconds cost, std::uint64_t lines) noexcept;
  unsigned unit_of_caches() const noexcept;
  // Makes one access of the memory model by the running strand, and counts it for the strand if counting is on.
  template <class Access>
  picoseconds counted(unsigned on, Access access) noexcept {
    if (!counts_memory_) [[likely]]
      return access();
    return counted_access(on, [](void* of) { return (*static_cast<Access*>(of))(); }, &access);
  }
  picoseconds counted_access(unsigned on, picoseconds (*access)(void*), void* of) noexcept;

  engine& engine_;
  cpu_meter meter_;
  bool measured_{false};
  bool counts_memory_{false};
  memory_counts known_of_memory_;
};

}  // namespace heddle::sim
