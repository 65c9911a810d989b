// The verdict: whether a figure agrees with the paper's.
#pragma once

#include <optional>
#include <string>

#include "cli/interval.hpp"
#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper {

// The figures of a measure: intervals over pairs of runs, or the reason why there is none.
struct findings {
  std::optional<interval> simulated;
  std::string none;                  // the reason why it is missing
  std::optional<interval> beside{};  // at another shrink
  std::optional<interval> measured{};
};

struct judgement {
  std::string verdict;  // one of `verdicts`
  std::string reason;
  std::string measured;  // "same", "other", "undecided", or "" if there is none, or no direction
};

inline constexpr const char* verdicts[] = {"same size", "same direction", "undecided", "not", "input", "not run"};

// The verdict is about the simulated figure. The measured figure is from another machine than the paper's, and is only
// shown beside it. An interval that holds the figure it is compared with decides nothing, and neither do too few runs.
//   above, below: by the side of the pivot, and then of the band around a number, with whole intervals. It is the same
//   size if the interval is within the band, too. It is the same direction if not, or if the paper tells no number.
//   about:        same size if within the band; not if outside.
//   at_most:      same size within the band, which has two sides. Below the band the bound is kept, which says nothing
//   about the size: same direction. Above it: not.
// If another shrink points elsewhere, the figure depends on the shrink and is undecided. A figure that the machine's
// file takes from this very figure is "input".
judgement judge(const measure& m, const findings& f);

// Returns the number with three significant digits.
std::string shown(double number);
// Returns "3.47 (3.30 to 3.77)".
std::string shown(const interval& i);

}  // namespace heddle::cli::paper
