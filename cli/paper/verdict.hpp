// Does a figure agree with the paper's?
#pragma once

#include <optional>
#include <string>

#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper {

// A figure, or why there is none.
struct figure {
  std::optional<double> is;
  std::string none;
};

struct judgement {
  std::string verdict;  // "same size", "same direction", "not", "not run"
  std::string reason;
};

// The verdict is on the simulated figure; the measured one, from
// another machine than the paper's, is only told beside it.
//   about, at_most:    same size, or not.
//   above, below:      not, where the direction is another one; same size, within the band around a number; else same
//   direction.
judgement judge(const measure& m, const figure& simulated);

// Three digits that count.
std::string shown(double number);

}  // namespace heddle::cli::paper
