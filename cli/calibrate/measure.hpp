// The measurements of one round of `heddle calibrate`. Times are in ns. Each figure is the quiet quartile of many short
// runs. Other programs on the machine only lengthen a run, so on a quiet machine the quartile is close to the median,
// and on a busy one it is the time of undisturbed runs.
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
  double run_ns = 1.5e6;  // the length of one run, where it can be chosen: less than a time slice
  std::size_t most_memory = std::size_t{512} << 20;
};

// Returns the quartile of `runs` values on the side of the low ones (for times), or of the high ones (for rates).
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

// from the bytes chased through to the ns of a step
using latency_curve = std::map<std::size_t, double>;

// Measures on the first of `units` and, for the bandwidth, on all of them. The keys are "frequency",
// "cache.<level>.latency", "cache.<level>.size" in bytes for caches that others share, "memory.latency",
// "memory.bandwidth" of all units together in bytes per ns, and "overlap", the number of lines that are on their way
// when one unit reads in order. Throws std::bad_alloc.
figures measure_memory(const machine::topology& here, const std::vector<int>& units, const effort& how,
                       latency_curve& curve);

// Returns the table of a machine file that has the cost of a line that goes from one unit's core to the other's:
// "cache.<level>", "memory" or "links".
std::string where_they_meet(const machine::topology& here, int first, int second);

// Measures from the first of `units` to the nearest one in each of these tables. Keys: "<table>.transfer",
// "<table>.upgrade".
figures measure_transfers(const machine::topology& here, const std::vector<int>& units, const effort& how);

// Returns how much of a shared cache can be used: the size at which the curve leaves the level's own latency for the
// memory's, at the geometric mean of the two, but at most `told`. `inner` is the capacity of the cache inside it, or 0.
std::size_t usable_capacity(const latency_curve& curve, std::size_t inner, std::size_t told);

// Returns `bytes` rounded down to a coarse unit of whole sets, at least one, so that a measured size is not given to
// the byte. `set` is the size of a set in bytes. If it is 0, which means unknown, the unit is a multiple of all usual
// powers of two.
std::size_t whole_sets(std::size_t bytes, std::size_t set);

// Returns the number of additions that wait for each other, per ns, on a unit at the moment.
double clock_now(int unit, const effort& how);

// Returns keys of the table [costs]; costs that could not be measured are absent. Needs two units for steals, wakes and
// fences.
figures measure_operations(const std::vector<int>& units, const effort& how);

// A kernel thread on a unit, which exists as long as the object.
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
