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

// A processor that is lent to somebody else by turns, or shares its core with another one, is slower for seconds, and
// all figures are longer then by the same factor. Rounds in which that was so do not count: those whose clock was below
// nine tenths of the fastest round's.
class rounds {
 public:
  // `clock`: the slowest that was seen in the round, in cycles per ns; 0: not looked at.
  void add(const figures& round, double clock = 0);
  // Of those that count.
  std::size_t count() const { return kept().size(); }
  std::size_t all() const { return all_.size(); }
  // Their numbers, in the order of add.
  std::vector<std::size_t> kept() const;

  // The median of each figure. One that fewer than half of the rounds have is absent.
  figures medians() const;

  // "KEY: WHY" for each figure that is not stable: between the quartiles lies more of the median than `spread_of` says.
  std::vector<std::string> unstable() const;

  // How much may lie between a figure's quartiles, as a part of its median.
  static double spread_of(const std::string& key);

 private:
  std::map<std::string, std::vector<double>> values() const;

  std::vector<figures> all_;
  std::vector<double> clocks_;
};

}  // namespace heddle::cli::calibrate
