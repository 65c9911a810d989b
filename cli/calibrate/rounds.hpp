// Figures that are measured in several rounds, each of all figures. A disturbance that comes and goes, for example a
// neighbour that fills the shared cache, lasts longer than one measurement. It shows because it is there in one round
// and not in another.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace heddle::cli::calibrate {

// By the keys of machine files: "cache.l1.latency".
using figures = std::map<std::string, double>;

// A processor that is lent to others in time slices, or that shares its core with another one, is slower for seconds,
// and all figures are longer then by the same factor. Such rounds do not count: a round counts only if its clock
// reached nine tenths of the fastest round's.
class rounds {
 public:
  // `clock` is the slowest clock that was seen in the round, in cycles per ns; 0 means that it was not measured.
  void add(const figures& round, double clock = 0);
  // Returns the number of rounds that count.
  std::size_t count() const { return kept().size(); }
  std::size_t all() const { return all_.size(); }
  // Returns the numbers of the rounds that count, in the order of add.
  std::vector<std::size_t> kept() const;

  // Returns the median of each figure. A figure that fewer than half of the rounds have is absent.
  figures medians() const;

  // Returns "KEY: WHY" for each figure that is not stable: the distance between its quartiles is a larger part of the
  // median than `spread_of` allows.
  std::vector<std::string> unstable() const;

  // Returns the distance allowed between a figure's quartiles, as a part of its median.
  static double spread_of(const std::string& key);

 private:
  std::map<std::string, std::vector<double>> values() const;

  std::vector<figures> all_;
  std::vector<double> clocks_;
};

}  // namespace heddle::cli::calibrate
