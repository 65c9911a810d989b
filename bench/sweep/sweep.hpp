// The six-point stencil of `stencil6` in space as parallel loops over lines of points; an iteration of the loop is a
// line. Consecutive lines share two of the five lines that each reads, and lines of consecutive planes share the
// others. So workers that are near each other in the loop find in a shared cache the lines that the others have brought
// there. There are n planes of `--columns`^2 points; the kernel is bound by memory.
#pragma once

#include "harness/schedules.hpp"
#include "rows/memory.hpp"
#include "rows/stencil.hpp"
#include "stencil6/stencil6.hpp"

namespace heddle::bench {

// Line y of plane i, both counted inside.
inline void sweep_line(const rows_shape& s, const double* __restrict from, double* __restrict to, std::size_t i,
                       std::size_t y) {
  const std::size_t at = (i + s.reach) * s.row + (y + s.reach) * s.stride + s.reach;
  if (told::model() != nullptr) [[unlikely]] {
    const std::size_t bytes = s.columns * sizeof(double), sides = 2 * s.reach * sizeof(double);
    told::rows({{from + at - s.row, bytes, 0, 0},
                {from + at - s.stride, bytes, 0, 0},
                {from + at - s.reach, bytes + sides, 0, 0},
                {from + at + s.stride, bytes, 0, 0},
                {from + at + s.row, bytes, 0, 0},
                {to + at, bytes, 0, 1}},
               1);
    told::cycles(stencil_load_cycles * stencil6::loads * static_cast<double>(s.columns));
    if (told::only()) return;
  }
  const auto line = static_cast<std::ptrdiff_t>(s.stride), row = static_cast<std::ptrdiff_t>(s.row);
  for (std::size_t x = at; x < at + s.columns; ++x) to[x] = stencil6::at(from + x, line, row);
}

struct sweep {
  static constexpr std::size_t default_n = 128, default_columns = 128, default_iterations = 10;
  template <class Backend>
  static constexpr bool supports = Backend::loops;

  template <class Backend>
  static void execute(context& c) {
    const rows_shape shape(c.n(), c.columns(default_columns), stencil6::reach, true);
    const std::size_t iterations = c.iterations(default_iterations);
    const touch how = touch_of(c.options().touch, touch::interleave);
    const rows_memory memory(shape, 2, how);
    Backend backend(c.options());
    backend.run_loops([&] {
      measure_schedules<Backend>(
          c,
          [&](const auto& loop) {
            touch_by(loop, how, shape.rows,
                     [&](std::size_t i) { memory.fill(shape.first() + i, shape.first() + i + 1, rows_random(shape)); });
          },
          [&](const auto& loop) {
            for (std::size_t k = 0; k < iterations; ++k) {
              const double* const from = memory.grid(k);
              double* const to = memory.grid(k + 1);
              loop(shape.rows * shape.columns, [&shape, from, to](std::size_t l) {
                sweep_line(shape, from, to, l / shape.columns, l % shape.columns);
              });
            }
          },
          [&] { return memory.checksum(iterations); });
    });
  }
};

}  // namespace heddle::bench
