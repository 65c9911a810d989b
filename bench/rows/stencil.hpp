// Jacobi iterations of a stencil on two grids of doubles: each point of the one is a function of the same point and its
// neighbours in the other. The grids are cut by rows only. A kernel defines the function:
//   reach         the distance of its neighbours
//   solid         whether it has three dimensions
//   loads         the points that it reads
//   at(p, line, row)  the new value of *p; the arguments are the distances to the next line, where there are planes,
//   and to the next row
// The terms of `at` have one order, and its unit is compiled without fused multiplications, so the result is bit for
// bit the same on every runtime.
#pragma once

#include <cstddef>

#include "rows/memory.hpp"

namespace heddle::bench {

// For one load of a point, of rows in the first-level cache. heat2d's 0.45 cycles a point are for four loads of floats,
// eight at once (docs/investigations/heat2d-locality.md); doubles are loaded four at once. The figure was not measured
// for these kernels.
inline constexpr double stencil_load_cycles = 0.225;
// Rows of a leaf that take less memory stay in the first-level cache until they are used the last time.
inline constexpr std::size_t stencil_kept = 24 << 10;

template <class Kernel>
void stencil_tell(const rows_shape& s, const double* from, const double* to, std::size_t first, std::size_t last) {
  constexpr std::size_t reach = Kernel::reach, unit = sizeof(double);
  const std::size_t row = s.row * unit, line = s.stride * unit, points = s.columns * unit;
  const std::size_t inside = s.line() * s.stride + reach;
  const std::size_t with_sides = points + 2 * reach * unit;
  if ((2 * reach + 2) * row <= stencil_kept) {  // each row comes once
    const std::size_t bytes = (s.lines - 1) * line + with_sides;
    told::rows({{from + (first - reach) * s.row, bytes, row, 0}}, 2 * reach);
    told::rows({{from + (first + reach) * s.row, bytes, row, 0},
                {to + first * s.row + inside, (s.inner_lines() - 1) * line + points, row, 1}},
               last - first);
  } else {  // line by line: of the row itself the line that is new, of those before and behind the same line
    for (std::size_t i = first; i < last; ++i) {
      told::row_set sets[2 * reach + 2];
      for (std::size_t k = 0; k <= 2 * reach; ++k)
        sets[k] = {from + (i + k - reach) * s.row + inside - reach, with_sides, line, 0};
      if (s.solid()) {
        told::rows({{from + i * s.row, with_sides, line, 0}}, 2 * reach);
        sets[reach].first = from + i * s.row + 2 * reach * s.stride;
      }
      sets[2 * reach + 1] = {to + i * s.row + inside, points, line, 1};
      told::rows(sets, 2 * reach + 2, s.inner_lines());
    }
  }
  told::cycles(stencil_load_cycles * Kernel::loads * static_cast<double>((last - first) * s.inner_points()));
}

template <class Kernel>
void stencil_leaf(const rows_shape& s, const double* __restrict from, double* __restrict to, std::size_t first,
                  std::size_t last) {
  if (told::model() != nullptr) [[unlikely]] {
    stencil_tell<Kernel>(s, from, to, first, last);
    if (told::only()) return;
  }
  const auto line = static_cast<std::ptrdiff_t>(s.stride), row = static_cast<std::ptrdiff_t>(s.row);
  for (std::size_t i = first; i < last; ++i) {
    for (std::size_t y = 0; y < s.inner_lines(); ++y) {
      const std::size_t begin = i * s.row + (y + s.line()) * s.stride + Kernel::reach;
      for (std::size_t x = begin; x < begin + s.columns; ++x) to[x] = Kernel::at(from + x, line, row);
    }
  }
}

template <class Backend, class Kernel>
void stencil_iteration(const rows_plan& plan, const rows_shape& s, const double* from, double* to) {
  rows_all<Backend>(plan, s.first(), s.last(), [&s, from, to](std::size_t first, std::size_t last) {
    told::piece(Kernel::name, Kernel::reach, first, Kernel::reach + s.columns, last);
    stencil_leaf<Kernel>(s, from, to, first, last);
  });
}

template <class Backend, class Kernel>
void stencil_execute(context& c) {
  const rows_shape shape(c.n(), c.columns(Kernel::default_columns), Kernel::reach, Kernel::solid);
  const rows_memory memory(shape, 2, touch_of(c.options().touch, touch::first));
  rows_plan plan = rows_plan_of(c);
  plan.work_a_row = static_cast<double>(shape.inner_points());
  plan.bytes_a_row = memory.bytes_a_row();
  const std::size_t iterations = c.iterations(Kernel::default_iterations);
  rows_measure<Backend>(
      c, memory, plan, iterations, rows_random(shape),
      [&](const rows_plan& p, std::size_t i) {
        stencil_iteration<Backend, Kernel>(p, shape, memory.grid(i), memory.grid(i + 1));
      },
      [&] { return memory.checksum(iterations); });
}

// The parts that the kernels share.
template <class Kernel>
struct stencil {
  static constexpr std::size_t default_iterations = 20;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;
  template <class Backend>
  static void execute(context& c) {
    stencil_execute<Backend, Kernel>(c);
  }
};

}  // namespace heddle::bench
