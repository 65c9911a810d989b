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
// The band is around the paper's number, from number / band to number * band. The verdict depends on the claim:
//   above, below: The whole interval must lie on the paper's side of the pivot. If it lies on the other side, the
//                 verdict is "not". If it lies on the paper's side, the verdict is "same size" where it also lies
//                 within the band, and "same direction" where it does not or the paper tells no number.
//   about:        The verdict is "same size" if the interval lies within the band, and "not" if it lies outside.
//   at_most:      The verdict is "same size" if the interval lies within the band, and "not" if it lies above. If it
//                 lies or begins below the band and does not reach above it, the bound is kept, but nothing is said
//                 about the size, so the verdict is "same direction".
// If the figure at another shrink contradicts this, the figure depends on the shrink and is undecided. A figure that
// the machine's file takes from this very figure is "input".
judgement judge(const measure& m, const findings& f);

// Returns the number with three significant digits.
std::string shown(double number);
// Returns "3.47 (3.30 to 3.77)".
std::string shown(const interval& i);

}  // namespace heddle::cli::paper
