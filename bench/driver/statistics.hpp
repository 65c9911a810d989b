// Medians and ratios of benchmark rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::bench {

// The mean of the two middle values for an even count; 0 for none.
inline double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  const std::size_t half = samples.size() / 2;
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(half), samples.end());
  const double upper = samples[half];
  if (samples.size() % 2 == 1) return upper;
  return (*std::max_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(half)) + upper) / 2;
}

struct row {
  std::string kernel;
  std::string runtime;
  std::string policy;
  unsigned workers = 1;
  std::size_t n = 0;
  std::string metric;
  std::string unit;
  std::vector<double> samples;
  bool checked = false;  // every process gave serial's result

  [[nodiscard]] double middle() const { return median(samples); }
  [[nodiscard]] double least() const { return samples.empty() ? 0 : *std::min_element(samples.begin(), samples.end()); }
  [[nodiscard]] double greatest() const {
    return samples.empty() ? 0 : *std::max_element(samples.begin(), samples.end());
  }
};

// serial is the base and futex the machine's floor, so neither is a rival runtime.
inline bool is_rival(const std::string& runtime) {
  return runtime != "heddle" && runtime != "serial" && runtime != "futex";
}

// Times of different sizes can be compared only if they are per operation.
inline bool comparable(const row& a, const row& b) {
  return a.kernel == b.kernel && a.metric == b.metric && a.unit == b.unit && (a.n == b.n || a.unit == "ns");
}

// The fastest rival with the same kernel, metric and workers; nullptr if there is none with a time
// above 0.
inline const row* best_rival(const row& of, std::span<const row> all) {
  const row* best = nullptr;
  for (const row& r : all) {
    if (!is_rival(r.runtime) || r.workers != of.workers || !comparable(r, of) || r.middle() <= 0) continue;
    if (best == nullptr || r.middle() < best->middle()) best = &r;
  }
  return best;
}

inline std::optional<double> ratio_to_best_rival(const row& of, std::span<const row> all) {
  const row* const best = best_rival(of, all);
  if (best == nullptr) return std::nullopt;
  return of.middle() / best->middle();
}

// Serial has one worker, whatever the number in the row.
inline std::optional<double> ratio_to_serial(const row& of, std::span<const row> all) {
  for (const row& r : all) {
    if (r.runtime == "serial" && comparable(r, of) && r.middle() > 0) return of.middle() / r.middle();
  }
  return std::nullopt;
}

}  // namespace heddle::bench
