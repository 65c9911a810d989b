// The median of a few independent figures, and how exactly it is known: an interval of order statistics.
#pragma once

#include <cstddef>
#include <vector>

namespace heddle::cli {

// Each figure lies below the median of their distribution with probability 1/2, so the number that does is binomial,
// and [k-th smallest, k-th largest] holds it with probability 1 - 2 P(B(n, 1/2) < k), whatever the distribution: W. R.
// Thompson, "On confidence ranges for the median", Annals of Mathematical Statistics 7(3), 1936; H. A. David, H. N.
// Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1. Here k is the largest with a probability of at least
// 15/16, which five figures reach with their extremes, and four do not. Resampling (the bootstrap) promises more of
// five figures than they hold.
struct interval {
  double median{0};
  double low{0}, high{0};
  // It is 0 for fewer than five figures, which tell no interval; low and high are then their extremes.
  double coverage{0};
  std::size_t figures{0};

  [[nodiscard]] bool known() const { return coverage > 0; }
  [[nodiscard]] bool above(double x) const { return known() && low > x; }
  [[nodiscard]] bool below(double x) const { return known() && high < x; }
};

inline constexpr std::size_t least_figures = 5;
inline constexpr double least_coverage = 15.0 / 16;

// There must be at least one figure.
interval interval_of(std::vector<double> figures);

}  // namespace heddle::cli
