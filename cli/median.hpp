// The middle of repeated figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace heddle::cli {

// Returns the median. For an even number of samples it is the mean of the two in the middle. There must be at least one
// sample.
inline double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

}  // namespace heddle::cli
