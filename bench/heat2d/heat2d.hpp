// Jacobi iterations of the 5-point heat equation on an n x n grid of floats, two buffers; each
// iteration quarters the grid recursively down to 64 x 64 blocks. Bound by memory: what a schedule
// that keeps a block on one core can gain. Origin: the Cilk distribution's heat; the iterative
// program of the locality papers (ADWS, LAWS). Only additions in a fixed order and a factor 0.25:
// bit for bit the same on every runtime.
//
// Pages come to the worker that initialises them, in the same recursion (--touch); hints of work are
// areas, wrong by --alpha as in section 4.4.4 of the ADWS thesis. --variant static: no recursion, but
// rows in equal parts, each always of one worker, as OpenMP's static schedule has them.
#pragma once

#include <bit>
#include <utility>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/placement.hpp"
#include "harness/random.hpp"
#include "harness/scale.hpp"

namespace heddle::bench {

inline constexpr std::size_t heat2d_block = 64;
// A point, of blocks in the first-level cache: four loads, four operations and a store, eight points at once
// (docs/investigations/heat2d-locality.md).
inline constexpr double heat2d_cycles = 0.45;

// Rows and their blocks begin at a cache line, so no two workers write one line. An odd number of lines a row, and a
// second grid that begins half a page further on, keep rows and grids from falling into the same cache sets.
struct heat2d_shape {
  static constexpr std::size_t line = 16;  // floats
  explicit heat2d_shape(std::size_t n) : n(n), stride((((n + line - 1) / line + 2) | 1) * line) {}
  [[nodiscard]] std::size_t grid() const { return (n + 2) * stride; }
  [[nodiscard]] std::size_t second() const { return (grid() + 1023) / 1024 * 1024 + 512; }
  [[nodiscard]] std::size_t floats() const { return second() + grid(); }
  // Of the first inner point, whose index in its row is 1: it begins a line.
  static constexpr std::size_t shift = line - 1;

  std::size_t n, stride;
};

struct heat2d_grid {
  const float* from;  // row 0, column 0: the border
  float* to;
  std::size_t stride;
  double alpha = 0;          // how wrong hints are
  std::uint64_t random = 0;  // 0: always in the same way; else the seed of this iteration
};

inline void heat2d_leaf(const float* __restrict from, float* __restrict to, std::size_t stride, std::size_t row,
                        std::size_t row_end, std::size_t column, std::size_t column_end) {
  if (told::model() != nullptr) [[unlikely]] {
    const std::size_t columns = column_end - column, next = stride * sizeof(float);
    const std::size_t with_sides = (columns + 2) * sizeof(float);
    told::rows({{from + (row - 1) * stride + column - 1, with_sides, next, 0}}, 2);
    told::rows({{from + (row + 1) * stride + column - 1, with_sides, next, 0},
                {to + row * stride + column, columns * sizeof(float), next, 1}},
               row_end - row);
    told::cycles(heat2d_cycles * static_cast<double>((row_end - row) * columns));
    if (told::only()) return;
  }
  for (std::size_t i = row; i < row_end; ++i) {
    for (std::size_t j = column; j < column_end; ++j) {
      const float* const p = from + i * stride + j;
      to[i * stride + j] = 0.25f * (((p[-static_cast<std::ptrdiff_t>(stride)] + p[stride]) + p[-1]) + p[1]);
    }
  }
}

// The declared work of the four quarters: areas, or areas times 1 - a, 1 - a / 2, 1 + a / 2, 1 + a, or times random
// factors between 1 - a and 1 + a.
struct heat2d_work {
  double of[4];
  heat2d_work(const heat2d_grid& g, std::size_t row, std::size_t column, const double (&area)[4]) {
    static constexpr double error[4] = {-1, -0.5, 0.5, 1};
    for (unsigned i = 0; i < 4; ++i) {
      of[i] = area[i];
      if (g.alpha == 0) continue;
      const double r =
          g.random == 0 ? error[i]
                        : static_cast<double>(mix64(g.random + (row * g.stride + column) * 4 + i) >> 11) * 0x1p-52 - 1;
      of[i] *= 1 + g.alpha * r;
    }
  }
};

// leaf(row, row_end, column, column_end) on blocks of the rectangle.
template <class Backend, class Leaf>
void heat2d_blocks(const heat2d_grid& g, const Leaf& leaf, std::size_t row, std::size_t row_end, std::size_t column,
                   std::size_t column_end) {
  const std::size_t rows = row_end - row, columns = column_end - column,
                    block = scaled_side(heat2d_block, heat2d_shape::line);
  if (rows <= block && columns <= block) return leaf(row, row_end, column, column_end);
  const auto bytes = [](std::size_t points) { return points * 2 * sizeof(float); };
  const auto part = [&g, &leaf](std::size_t r, std::size_t re, std::size_t c, std::size_t ce) {
    return [&g, &leaf, r, re, c, ce] { heat2d_blocks<Backend>(g, leaf, r, re, c, ce); };
  };
  const auto cut = [](std::size_t first, std::size_t length) {  // at a line
    return first + (length / 2 + heat2d_shape::line / 2) / heat2d_shape::line * heat2d_shape::line;
  };
  const std::size_t low = cut(row, rows), middle = cut(column, columns);
  const auto area = [](std::size_t r, std::size_t c) { return static_cast<double>(r * c); };
  if (columns <= block) {
    invoke<Backend>(hint{area(low - row, columns), area(row_end - low, columns), bytes(rows * columns)},
                    part(row, low, column, column_end), part(low, row_end, column, column_end));
  } else if (rows <= block) {
    invoke<Backend>(hint{area(rows, middle - column), area(rows, column_end - middle), bytes(rows * columns)},
                    part(row, row_end, column, middle), part(row, row_end, middle, column_end));
  } else {  // four subregions, as two forks in a fork
    const heat2d_work work(g, row, column,
                           {area(low - row, middle - column), area(low - row, column_end - middle),
                            area(row_end - low, middle - column), area(row_end - low, column_end - middle)});
    invoke<Backend>(
        hint{work.of[0] + work.of[1], work.of[2] + work.of[3], bytes(rows * columns)},
        [&, row, low, column, middle, column_end] {
          invoke<Backend>(hint{work.of[0], work.of[1], bytes((low - row) * columns)}, part(row, low, column, middle),
                          part(row, low, middle, column_end));
        },
        [&, row_end, low, column, middle, column_end] {
          invoke<Backend>(hint{work.of[2], work.of[3], bytes((row_end - low) * columns)},
                          part(low, row_end, column, middle), part(low, row_end, middle, column_end));
        });
  }
}

template <class Backend>
void heat2d_task(const heat2d_grid& g, std::size_t row, std::size_t row_end, std::size_t column,
                 std::size_t column_end) {
  heat2d_blocks<Backend>(
      g,
      [&g](std::size_t r, std::size_t re, std::size_t c, std::size_t ce) {
        told::piece("heat2d", c, r, ce, re);
        heat2d_leaf(g.from, g.to, g.stride, r, re, c, ce);
      },
      row, row_end, column, column_end);
}

// Both grids of an n x n problem, in one piece of memory.
class heat2d_memory {
 public:
  heat2d_memory(std::size_t n, touch how) : shape_(n), how_(how), memory_(shape_.floats() + heat2d_shape::shift, how) {}

  [[nodiscard]] const heat2d_shape& shape() const { return shape_; }
  [[nodiscard]] float* grid(std::size_t which) const {
    return memory_.data() + heat2d_shape::shift + (which % 2) * shape_.second();
  }

  // Point i of a grid of (n + 2)^2 starts with mix64(i) % 256.
  template <class Backend>
  void start() const {
    start_by(by_blocks<Backend>());
  }
  // The same, and place(), with all(leaf) in place of the blocks: leaf(row, row_end, column, column_end).
  template <class All>
  void start_by(const All& all) const {
    const std::size_t n = shape_.n;
    const auto fill = [this, n](std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
      if (row == 1) row = 0;
      if (column == 1) column = 0;
      if (row_end == n + 1) ++row_end;
      if (column_end == n + 1) ++column_end;
      const std::size_t bytes = (column_end - column) * sizeof(float), next = shape_.stride * sizeof(float),
                        at = row * shape_.stride + column;
      told::rows({{grid(0) + at, bytes, next, 1}, {grid(1) + at, bytes, next, 1}}, row_end - row);
      if (told::only()) return;
      for (std::size_t i = row; i < row_end; ++i) {
        for (std::size_t j = column; j < column_end; ++j) {
          const auto value = static_cast<float>(mix64(i * (n + 2) + j) % 256);
          grid(0)[i * shape_.stride + j] = grid(1)[i * shape_.stride + j] = value;
        }
      }
    };
    if (how_ == touch::serial) return fill(1, n + 1, 1, n + 1);
    all(fill);
  }

  // Called before the first start(). Under touch::first the worker that has a block touches the pages that begin in it.
  // Without care, the earlier worker would have a page that lies across the border of two blocks: in each row the same
  // worker. Workers that are still being started would leave their pages to others, so some work without memory comes
  // first.
  template <class Backend>
  void place() const {
    place_by(by_blocks<Backend>());
  }
  template <class All>
  void place_by(const All& all) const {
    if (how_ != touch::first) return;
    const std::size_t n = shape_.n;
    for (int i = 0; i < 5; ++i) all([](std::size_t, std::size_t, std::size_t, std::size_t) { busy_moment(); });
    all([&](std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
      for (std::size_t which = 0; which < 2; ++which) {
        for (std::size_t i = row; i < row_end; ++i) {
          const float* const at = grid(which) + i * shape_.stride;
          touch_pages_from(memory_.data(), at + column, at + (column_end == n + 1 ? shape_.stride + 1 : column_end));
        }
      }
    });
  }

  template <class Backend>
  [[nodiscard]] auto by_blocks() const {
    return [this](const auto& leaf) {
      heat2d_blocks<Backend>({grid(0), grid(1), shape_.stride}, leaf, 1, shape_.n + 1, 1, shape_.n + 1);
    };
  }

  [[nodiscard]] std::uint64_t checksum(std::size_t which) const {
    digest d;
    for (std::size_t i = 0; i < shape_.n + 2; ++i) {
      for (std::size_t j = 0; j < shape_.n + 2; ++j)
        d.add(std::bit_cast<std::uint32_t>(grid(which)[i * shape_.stride + j]));
    }
    return d.value();
  }

 private:
  heat2d_shape shape_;
  touch how_;
  placed_array<float> memory_;
};

// Gives whole rows, the same number to each worker, always the same ones, as OpenMP's static schedule does for a flat
// loop over them. It calls leaf(row, row_end, column, column_end), and all meet after each of `times`; leaf_of(i) is
// the leaf of the i-th time.
template <class Backend, class LeafOf>
void heat2d_static(Backend& backend, std::size_t n, std::size_t times, const LeafOf& leaf_of) {
  backend.members([&](std::size_t number, std::size_t members, const auto& meet) {
    for (std::size_t i = 0; i < times; ++i) {
      leaf_of(i)(1 + n * number / members, 1 + n * (number + 1) / members, std::size_t{1}, n + 1);
      meet();
    }
  });
}

struct heat2d {
  static constexpr std::size_t default_n = 2048;  // inner points a side; a fixed border around them
  static constexpr std::size_t default_iterations = 20;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::size_t iterations = c.iterations(default_iterations);
    const settings& s = c.options();
    const heat2d_memory memory(c.n(), touch_of(s.touch, touch::first));
    Backend backend(s);
    std::uint64_t rounds = 0;
    if constexpr (Backend::pinned) {
      if (c.chose("static")) return flat(c, backend, memory, iterations);
    }
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3,
          [&] {
            if (rounds++ == 0) memory.place<Backend>();
            memory.start<Backend>();
          },
          [&] {
            for (std::size_t i = 0; i < iterations; ++i) {
              const heat2d_grid g{memory.grid(i), memory.grid(i + 1), memory.shape().stride, s.alpha,
                                  s.alpha_random ? mix64(rounds << 32 | i) | 1 : 0};
              heat2d_task<Backend>(g, 1, c.n() + 1, 1, c.n() + 1);
            }
          },
          [&] { return memory.checksum(iterations); });
    });
  }

 private:
  template <class Backend>
  static void flat(context& c, Backend& backend, const heat2d_memory& memory, std::size_t iterations) {
    const std::size_t n = c.n();
    bool placed = false;
    const auto all = [&](const auto& leaf) {
      heat2d_static(backend, n, 1, [&leaf](std::size_t) -> const auto& { return leaf; });
    };
    backend.run([&] {
      c.measure(
          "static", "ms", 1e3,
          [&] {
            if (!std::exchange(placed, true)) memory.place_by(all);
            memory.start_by(all);
          },
          [&] {
            heat2d_static(backend, n, iterations, [&memory](std::size_t i) {
              return [from = memory.grid(i), to = memory.grid(i + 1), stride = memory.shape().stride](
                         std::size_t r, std::size_t re, std::size_t col, std::size_t col_end) {
                told::piece("heat2d", col, r, col_end, re);
                heat2d_leaf(from, to, stride, r, re, col, col_end);
              };
            });
          },
          [&] { return memory.checksum(iterations); });
    });
  }
};

}  // namespace heddle::bench
