// Does a figure agree with the paper's?
#pragma once

#include <optional>
#include <string>

#include "cli/interval.hpp"
#include "cli/paper/experiment.hpp"

namespace heddle::cli::paper {

// What there is of a measure: intervals over pairs of runs, or why there is none.
struct findings {
  std::optional<interval> simulated;
  std::string none;                  // why it is not
  std::optional<interval> beside{};  // at another shrink
  std::optional<interval> measured{};
};

struct judgement {
  std::string verdict;  // one of `verdicts`
  std::string reason;
  std::string measured;  // "same", "other", "undecided", or "" where there is none, or no direction
};

inline constexpr const char* verdicts[] = {"same size", "same direction", "undecided", "not", "input", "not run"};

// The verdict is on the simulated figure; the measured one, from another machine than the paper's, is only told beside
// it. Nothing is decided by an interval that holds the figure it is compared with, or by fewer runs than tell one.
//   above, below: by the side of the pivot, then of the band around a number, whole intervals: same size if within
//                 that, too; same direction if not, or if the paper tells no number.
//   about:        same size if within the band; not if outside.
//   at_most:      same size within the band, which has two sides; below it, the bound is kept, which is no size: same
//                 direction; above, not.
// Where another shrink points elsewhere, the figure is one of the shrink, and undecided. What the machine's file has
// from this very figure is "input".
judgement judge(const measure& m, const findings& f);

// Three digits that count.
std::string shown(double number);
// "3.47 (3.30 to 3.77)"
std::string shown(const interval& i);

}  // namespace heddle::cli::paper
