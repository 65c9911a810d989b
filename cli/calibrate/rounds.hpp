// Figures that are measured in several rounds, each of all figures: what comes and goes on a machine, a neighbour that
// fills the shared cache, say, lasts longer than one measurement, and is seen by its being there in one round and not
// in another.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace heddle::cli::calibrate {

// By the keys of machine files: "cache.l1.latency".
using figures = std::map<std::string, double>;

class rounds {
 public:
  void add(const figures& round);
  std::size_t count() const { return count_; }

  // The median of each figure. One that fewer than half of the rounds have is absent.
  figures medians() const;

  // A sentence for each figure that is not stable: between the quartiles lies more of the median than `spread_of` says.
  std::vector<std::string> unstable() const;

  // How much may lie between a figure's quartiles, as a part of its median.
  static double spread_of(const std::string& key);

 private:
  std::map<std::string, std::vector<double>> values_;
  std::size_t count_{0};
};

}  // namespace heddle::cli::calibrate
