#include "cli/calibrate/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/median.hpp"

namespace heddle::cli::calibrate {

void rounds::add(const figures& round) {
  for (const auto& [key, value] : round) values_[key].push_back(value);
  ++count_;
}

figures rounds::medians() const {
  figures made;
  for (const auto& [key, values] : values_) {
    if (2 * values.size() > count_) made[key] = median(values);
  }
  return made;
}

std::vector<std::string> rounds::unstable() const {
  std::vector<std::string> made;
  for (const auto& [key, measured] : values_) {
    std::vector<double> values = measured;
    std::sort(values.begin(), values.end());
    const double low = values[values.size() / 4], high = values[values.size() - 1 - values.size() / 4];
    if (high - low <= spread_of(key) * median(values)) continue;
    made.push_back(
        fmt::format("{} is {:.4g} to {:.4g} in the middle half of {} rounds", key, low, high, values.size()));
  }
  return made;
}

// What the system does at a wake or a signal depends on more than the machine; a cache and the memory do not.
double rounds::spread_of(const std::string& key) { return key.starts_with("costs.") ? 0.5 : 0.2; }

}  // namespace heddle::cli::calibrate
