// Successive over-relaxation of Laplace's equation on one grid, red points and then black ones (of a chess board), cut
// by rows: "SOR" and "SOR-ir" of Chen and Guo (rows/tree.hpp). Points of one colour have only neighbours of the other
// colour, so the order of tasks changes nothing. An iteration is two trees, one after the other. The book does not say
// in which order its points go.
#pragma once

#include "rows/memory.hpp"
#include "rows/stencil.hpp"

namespace heddle::bench {

// A point: five loads, two of which the next one has, six operations and a store, one at a time, as every other point
// is left out. Counted, not measured.
inline constexpr double sor_point_cycles = 4;
inline constexpr double sor_factor = 1.5;

// Points of rows [first, last) for which row + column is of the parity `colour`.
inline void sor_leaf(const rows_shape& s, double* grid, std::size_t colour, std::size_t first, std::size_t last) {
  if (told::model() != nullptr) [[unlikely]] {
    const std::size_t next = s.row * sizeof(double), points = s.columns * sizeof(double);
    const double* const above = grid + (first - 1) * s.row + 1;
    if (4 * next <= stencil_kept) {
      told::read(above, points);
      told::rows({{above + 2 * s.row, points, next, 0}, {above + s.row, points, next, 1}}, last - first);
    } else {
      told::rows({{above, points, next, 0}, {above + 2 * s.row, points, next, 0}, {above + s.row, points, next, 1}},
                 last - first);
    }
    told::cycles(sor_point_cycles * static_cast<double>((last - first) * s.columns) / 2);
    if (told::only()) return;
  }
  for (std::size_t i = first; i < last; ++i) {
    double* const row = grid + i * s.row;
    const double *const above = row - s.row, *const below = row + s.row;
    for (std::size_t j = 1 + (i + colour + 1) % 2; j <= s.columns; j += 2) {
      const double mean = 0.25 * (((above[j] + below[j]) + row[j - 1]) + row[j + 1]);
      row[j] += sor_factor * (mean - row[j]);
    }
  }
}

template <class Backend>
void sor_iteration(const rows_plan& plan, const rows_shape& s, double* grid) {
  for (const std::size_t colour : {0, 1}) {
    rows_all<Backend>(plan, s.first(), s.last(), [&s, grid, colour](std::size_t first, std::size_t last) {
      told::piece(colour == 0 ? "sor red" : "sor black", 1, first, 1 + s.columns, last);
      sor_leaf(s, grid, colour, first, last);
    });
  }
}

struct sor {
  static constexpr std::size_t default_n = 1024, default_columns = 512, default_iterations = 20;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const rows_shape shape(c.n(), c.columns(default_columns), 1, false);
    const rows_memory memory(shape, 1, touch_of(c.options().touch, touch::first));
    rows_plan plan = rows_plan_of(c);
    plan.work_a_row = static_cast<double>(shape.columns);
    plan.bytes_a_row = memory.bytes_a_row();
    rows_measure<Backend>(
        c, memory, plan, c.iterations(default_iterations), rows_random(shape),
        [&](const rows_plan& p, std::size_t) { sor_iteration<Backend>(p, shape, memory.grid(0)); },
        [&] { return memory.checksum(0); });
  }
};

}  // namespace heddle::bench
