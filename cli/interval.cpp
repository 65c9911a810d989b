#include "cli/interval.hpp"

#include <algorithm>
#include <cmath>

#include "cli/median.hpp"

namespace heddle::cli {
namespace {

// Returns the probability that fewer than k of n figures lie below the median, or fewer than k above it.
double outside(std::size_t n, std::size_t k) {
  double ways = 1, sum = 0;  // n over i
  for (std::size_t i = 0; i < k; ++i) {
    sum += ways;
    ways *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return 2 * sum * std::exp2(-static_cast<double>(n));
}

}  // namespace

interval interval_of(std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  const std::size_t n = figures.size();
  interval i{median(figures), figures.front(), figures.back(), 0, n};
  for (std::size_t k = 1; 2 * k <= n; ++k) {
    const double coverage = 1 - outside(n, k);
    if (coverage < least_coverage) break;
    i.low = figures[k - 1], i.high = figures[n - k], i.coverage = coverage;
  }
  return i;
}

}  // namespace heddle::cli
