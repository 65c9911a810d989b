#include "cli/calibrate/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/median.hpp"

namespace heddle::cli::calibrate {

void rounds::add(const figures& round, double clock) {
  all_.push_back(round);
  clocks_.push_back(clock);
}

std::vector<std::size_t> rounds::kept() const {
  constexpr double least = 0.9;
  std::vector<std::size_t> made;
  if (clocks_.empty()) return made;
  const double fastest = *std::max_element(clocks_.begin(), clocks_.end());
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    if (clocks_[i] >= least * fastest) made.push_back(i);
  }
  return made;
}

std::map<std::string, std::vector<double>> rounds::values() const {
  std::map<std::string, std::vector<double>> made;
  for (const std::size_t i : kept()) {
    for (const auto& [key, value] : all_[i]) made[key].push_back(value);
  }
  return made;
}

figures rounds::medians() const {
  figures made;
  for (const auto& [key, values] : values()) {
    if (2 * values.size() > count()) made[key] = median(values);
  }
  return made;
}

std::vector<std::string> rounds::unstable() const {
  std::vector<std::string> made;
  for (const auto& [key, measured] : values()) {
    std::vector<double> values = measured;
    std::sort(values.begin(), values.end());
    const double low = values[values.size() / 4], high = values[values.size() - 1 - values.size() / 4];
    if (high - low <= spread_of(key) * median(values)) continue;
    made.push_back(
        fmt::format("{}: not stable, {:.4g} to {:.4g} in the middle half of {} rounds", key, low, high, values.size()));
  }
  return made;
}

// The system's time at a wake or a signal depends on more than the machine; the times of a cache and the memory do not.
double rounds::spread_of(const std::string& key) { return key.starts_with("costs.") ? 0.5 : 0.2; }

}  // namespace heddle::cli::calibrate
