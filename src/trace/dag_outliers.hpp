// Outliers: stretches of code that took so long that another process must have had the processor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "trace/recording.hpp"

namespace heddle::trace {

inline bool simulated(const recording& what) {
  const auto clock = what.attributes.find("clock");
  return clock != what.attributes.end() && clock->second == "virtual";
}

// Returns for each function a length that no stretch exceeds by its own doing, from the lengths of its stretches in ns
// (which are reordered). The limit is far above the time of 19 of 20 stretches, and above any time so short that a
// processor is hardly taken away for it. It is infinite if there are too few stretches to tell.
inline std::vector<double> longest_usual(std::vector<std::vector<double>>& lengths) {
  constexpr double factor = 10, least = 100'000;
  constexpr std::size_t enough = 40;
  std::vector<double> limits(lengths.size(), HUGE_VAL);
  for (std::size_t f = 0; f < limits.size(); ++f) {
    if (lengths[f].size() < enough) continue;
    const auto long_one = lengths[f].begin() + static_cast<std::ptrdiff_t>(lengths[f].size() * 19 / 20);
    std::nth_element(lengths[f].begin(), long_one, lengths[f].end());
    limits[f] = std::max(least, factor * *long_one);
  }
  return limits;
}

}  // namespace heddle::trace
