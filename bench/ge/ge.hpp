// Gaussian elimination of an n x n matrix without pivoting, cut by rows: "GE" and "GE-ir" of Chen and Guo
// (rows/tree.hpp). Each pivot is an iteration with a tree of its own over the rows below it, which become fewer. The
// matrix is diagonally dominant, and the factors stay below the diagonal. Each row belongs to one task and is computed
// in one order, and its unit is compiled without fused multiplications. So the result is bit for bit the same on every
// runtime.
#pragma once

#include <algorithm>

#include "rows/memory.hpp"

namespace heddle::bench {

// A multiply-add of rows in the first-level cache, as measured for lu (docs/investigations/simulator.md), and a
// division for each row, assumed.
inline constexpr double ge_point_cycles = 1 / 1.6, ge_row_cycles = 15;

inline void ge_leaf(const rows_shape& s, double* matrix, std::size_t pivot, std::size_t first, std::size_t last) {
  const std::size_t columns = s.columns - pivot;
  double* const from = matrix + pivot * s.row + pivot;
  if (told::model() != nullptr) [[unlikely]] {
    told::read(from, columns * sizeof(double));
    told::rows({{matrix + first * s.row + pivot, columns * sizeof(double), s.row * sizeof(double), 1}}, last - first);
    told::cycles((ge_point_cycles * static_cast<double>(columns) + ge_row_cycles) * static_cast<double>(last - first));
    if (told::only()) return;
  }
  for (std::size_t i = first; i < last; ++i) {
    double* __restrict const row = matrix + i * s.row + pivot;
    const double* __restrict const above = from;
    const double factor = row[0] /= above[0];
    for (std::size_t j = 1; j < columns; ++j) row[j] -= factor * above[j];
  }
}

template <class Backend>
void ge_iteration(rows_plan plan, const rows_shape& s, double* matrix, std::size_t pivot) {
  plan.work_a_row = static_cast<double>(s.columns - pivot);
  plan.bytes_a_row = (s.columns - pivot) * sizeof(double);
  rows_all<Backend>(plan, pivot + 1, s.rows, [&s, matrix, pivot](std::size_t first, std::size_t last) {
    told::piece("ge", pivot, first, s.columns, last);
    ge_leaf(s, matrix, pivot, first, last);
  });
}

struct ge {
  static constexpr std::size_t default_n = 1024;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  static auto values(const rows_shape& s) {
    return [n = s.rows](std::size_t i, std::size_t, std::size_t j) {
      return static_cast<double>(mix64(i * n + j) % 1024) / 1024 + (i == j ? static_cast<double>(n) : 0);
    };
  }

  template <class Backend>
  static void execute(context& c) {
    const rows_shape shape(c.n(), c.n(), 0, false);
    const rows_memory memory(shape, 1, touch_of(c.options().touch, touch::first));
    rows_plan plan = rows_plan_of(c);
    plan.work_a_row = static_cast<double>(shape.columns);
    plan.bytes_a_row = memory.bytes_a_row();
    // The number of pivots; below the last one there are no rows.
    const std::size_t pivots = std::min(c.iterations(shape.rows), shape.rows);
    rows_measure<Backend>(
        c, memory, plan, pivots, values(shape),
        [&](const rows_plan& p, std::size_t pivot) { ge_iteration<Backend>(p, shape, memory.grid(0), pivot); },
        [&] { return memory.checksum(0); });
  }
};

}  // namespace heddle::bench
