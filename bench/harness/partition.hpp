// Parallel partition of an array into another one: pieces are counted, the counts are summed up, and the pieces are
// copied to their places. It keeps the order on both sides, so the result is the same on every runtime. It belongs to
// the double-buffered quicksort and the kd-tree of the ADWS thesis, section 5.5.1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "backend/common.hpp"
#include "harness/cost.hpp"

namespace heddle::bench {

// an element; half of the branches go wrong
inline constexpr double partition_count_cycles = 1, partition_copy_cycles = 16;

// Moves the elements of [from, from + n) for which lower() holds to the front of `to`, and the others behind them.
// Returns the number of the former. Pieces have at most `cutoff` bytes; a single piece is done serially.
template <class Backend, class T, class Lower>
std::size_t partition_into(const T* from, T* to, std::size_t n, std::size_t cutoff, const Lower& lower) {
  const std::size_t pieces = n * sizeof(T) <= cutoff ? 1 : (n * sizeof(T) + cutoff - 1) / cutoff;
  const auto edge = [n, pieces](std::size_t piece) { return n / pieces * piece + std::min(piece, n % pieces); };
  std::vector<std::size_t> before(pieces + 1, 0);
  const auto each = [&](const auto& f) {
    for_halves<Backend>(0, pieces, 1, 2 * cutoff, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) f(i, edge(i), edge(i + 1));
    });
  };
  each([&](std::size_t piece, std::size_t first, std::size_t last) {
    // its key alone
    if constexpr (sizeof(T) > 64) told::rows({{from + first, sizeof(double), sizeof(T), 0}}, last - first);
    else told::read(from + first, (last - first) * sizeof(T));
    told::cycles(partition_count_cycles * static_cast<double>(last - first));
    std::size_t count = 0;
    for (std::size_t i = first; i < last; ++i) count += lower(from[i]) ? 1 : 0;
    before[piece + 1] = count;
  });
  for (std::size_t i = 0; i < pieces; ++i) before[i + 1] += before[i];
  const std::size_t border = before[pieces];
  each([&](std::size_t piece, std::size_t first, std::size_t last) {
    T* front = to + before[piece];
    T* back = to + border + (first - before[piece]);
    if (told::model() != nullptr) [[unlikely]] {
      const std::size_t left = before[piece + 1] - before[piece];
      told::read(from + first, (last - first) * sizeof(T));
      told::write(front, left * sizeof(T));
      told::write(back, (last - first - left) * sizeof(T));
      told::cycles(partition_copy_cycles * static_cast<double>(last - first));
    }
    for (std::size_t i = first; i < last; ++i) {
      if (lower(from[i])) *front++ = from[i];
      else *back++ = from[i];
    }
  });
  return border;
}

template <class T>
const T& median_of(const T& a, const T& b, const T& c) {
  if (a < b) return b < c ? b : a < c ? c : a;
  return a < c ? a : b < c ? c : b;
}

}  // namespace heddle::bench
