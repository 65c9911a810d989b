// Products with vectors by plain loops, for checks that use nothing of the library under test.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace heddle::bench_blas {

using vector = std::vector<double>;

// Numbers in [-1, 1), the same in every run.
inline double next_number(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 11) * 0x1p-52 - 1;
}

inline vector numbers(std::size_t count, unsigned seed) {
  vector v(count);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (double& x : v) x = next_number(state);
  return v;
}

enum class part { all, lower, upper, unit_lower };

// The matrix, or that part of it, times x.
inline vector times(const vector& a, int n, const vector& x, part which = part::all) {
  vector y(static_cast<std::size_t>(n), 0.0);
  for (int j = 0; j < n; ++j) {
    const double* const column = a.data() + static_cast<std::size_t>(j) * n;
    const double factor = x[j];
    int first = 0, last = n;
    if (which == part::lower) first = j;
    if (which == part::unit_lower) first = j + 1, y[j] += factor;
    if (which == part::upper) last = j + 1;
    for (int i = first; i < last; ++i) y[i] += column[i] * factor;
  }
  return y;
}

// Its transpose, or that of the part, times x.
inline vector transposed_times(const vector& a, int n, const vector& x, part which = part::all) {
  vector y(static_cast<std::size_t>(n), 0.0);
  for (int j = 0; j < n; ++j) {
    const double* const column = a.data() + static_cast<std::size_t>(j) * n;
    const int first = which == part::lower ? j : 0, last = which == part::upper ? j + 1 : n;
    for (int i = first; i < last; ++i) y[j] += column[i] * x[i];
  }
  return y;
}

inline double size_of(const vector& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

// |a - b| / |b|
inline double distance(const vector& a, const vector& b) {
  vector d(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) d[i] = a[i] - b[i];
  return size_of(d) / size_of(b);
}

}  // namespace heddle::bench_blas
