// What `heddle calibrate` measures in one round. Times in ns. Each figure is the quiet quartile of
// many short runs: what shares the machine only lengthens a run, so on a quiet machine
// it is close to the median, and on a busy one it is what undisturbed runs say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/calibrate/rounds.hpp"
#include "machine/topology.hpp"

namespace heddle::cli::calibrate {

struct effort {
  unsigned least_rounds = 5, most_rounds = 15;
  unsigned runs = 11;     // of each measurement in a round
  double run_ns = 1.5e6;  // length of one, where it can be chosen: less than a time slice
  std::size_t most_memory = std::size_t{512} << 20;
};

// The quartile of `runs` values on the side of the low ones (of times), or of the high ones (of rates).
template <class F>
double quiet_time(unsigned runs, F&& measure) {
  std::vector<double> values;
  for (unsigned i = 0; i < runs; ++i) values.push_back(measure());
  std::nth_element(values.begin(), values.begin() + runs / 4, values.end());
  return values[runs / 4];
}
template <class F>
double quiet_rate(unsigned runs, F&& measure) {
  return -quiet_time(runs, [&] { return -measure(); });
}

// bytes chased through -> ns a step
using latency_curve = std::map<std::size_t, double>;

// On the first of `units` and, for the bandwidth, on all of them. Keys: "frequency", "cache.<level>.latency",
// "cache.<level>.size" in bytes of those that others share, "memory.latency", "memory.bandwidth" of all units together
// in bytes per ns, and "overlap", how many lines are on their way when one unit reads in order. Throws std::bad_alloc.
figures measure_memory(const machine::topology& here, const std::vector<int>& units, const effort& how,
                       latency_curve& curve);

// The table of a machine file that has what a line costs that goes from one unit's core to the other's:
// "cache.<level>", "memory" or "links".
std::string where_they_meet(const machine::topology& here, int first, int second);

// From the first of `units` to the nearest one in each of these tables. Keys: "<table>.transfer", "<table>.upgrade".
figures measure_transfers(const machine::topology& here, const std::vector<int>& units, const effort& how);

// How much of a shared cache is to be had: where the curve leaves the level's own latency for the memory's, at the
// geometric mean of the two, but no more than `told`. `inner`: the capacity of the cache inside it, or 0.
std::size_t usable_capacity(const latency_curve& curve, std::size_t inner, std::size_t told);

// So many bytes as whole sets, at least one: near to `bytes`, and not above it, so that what was measured is not said
// to the byte. `set`: bytes of one; 0: unknown, then a multiple of all usual ones that are a power of two.
std::size_t whole_sets(std::size_t bytes, std::size_t set);

// Additions that wait for each other, per ns, on a unit now.
double clock_now(int unit, const effort& how);

// Keys of the table [costs]; what could not be measured is absent. Needs two units for steals, wakes and fences.
figures measure_operations(const std::vector<int>& units, const effort& how);

// A kernel thread on a unit, for the length of an object.
class helper {
 public:
  template <class F>
  helper(int unit, F& body)
      : helper(unit, [](void* f) { (*static_cast<F*>(f))(); }, const_cast<void*>(static_cast<const void*>(&body))) {}
  ~helper();
  helper(const helper&) = delete;
  helper& operator=(const helper&) = delete;

 private:
  helper(int unit, void (*call)(void*), void* argument);
  struct state;
  state* state_;
};

}  // namespace heddle::cli::calibrate
