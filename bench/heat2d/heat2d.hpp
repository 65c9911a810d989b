// Jacobi iterations of the 5-point heat equation on an n x n grid of floats, two buffers; each
// iteration halves the grid recursively down to 64 x 64 blocks. Bound by memory: what a schedule
// that keeps a block on one core can gain. Origin: the Cilk distribution's heat; the iterative
// program of the locality papers (ADWS, LAWS). Only additions in a fixed order and a factor 0.25:
// bit for bit the same on every runtime.
#pragma once

#include <bit>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

inline constexpr std::size_t heat2d_block = 64;
inline constexpr double heat2d_cycles = 1;  // a point: four loads, four operations and a store, eight points at once

struct heat2d_grid {
  const float* from;
  float* to;
  std::size_t stride;
};

inline void heat2d_leaf(const float* __restrict from, float* __restrict to, std::size_t stride,
                        std::size_t row, std::size_t row_end, std::size_t column,
                        std::size_t column_end) {
  if (told::model() != nullptr) [[unlikely]] {
    const std::size_t columns = column_end - column;
    told::read(from + (row - 1) * stride + column, columns * sizeof(float));
    told::read(from + row * stride + column - 1, (columns + 2) * sizeof(float));
    for (std::size_t i = row; i < row_end; ++i) {
      told::read(from + (i + 1) * stride + column - 1, (columns + 2) * sizeof(float));
      told::write(to + i * stride + column, columns * sizeof(float));
    }
    told::cycles(heat2d_cycles * static_cast<double>((row_end - row) * columns));
    if (told::only()) return;
  }
  for (std::size_t i = row; i < row_end; ++i) {
    for (std::size_t j = column; j < column_end; ++j) {
      const float* const p = from + i * stride + j;
      to[i * stride + j] =
          0.25f * (((p[-static_cast<std::ptrdiff_t>(stride)] + p[stride]) + p[-1]) + p[1]);
    }
  }
}

template <class Backend>
void heat2d_task(const heat2d_grid& g, std::size_t row, std::size_t row_end, std::size_t column,
                 std::size_t column_end) {
  const std::size_t rows = row_end - row, columns = column_end - column;
  if (rows <= heat2d_block && columns <= heat2d_block) {
    told::piece("heat2d", column, row, column_end, row_end);
    heat2d_leaf(g.from, g.to, g.stride, row, row_end, column, column_end);
  } else if (rows >= columns) {
    const std::size_t middle = row + rows / 2;
    Backend::invoke([&g, row, middle, column,
                     column_end] { heat2d_task<Backend>(g, row, middle, column, column_end); },
                    [&g, middle, row_end, column, column_end] {
                      heat2d_task<Backend>(g, middle, row_end, column, column_end);
                    });
  } else {
    const std::size_t middle = column + columns / 2;
    Backend::invoke([&g, row, row_end, column,
                     middle] { heat2d_task<Backend>(g, row, row_end, column, middle); },
                    [&g, row, row_end, middle, column_end] {
                      heat2d_task<Backend>(g, row, row_end, middle, column_end);
                    });
  }
}

struct heat2d {
  static constexpr std::size_t default_n = 2048;  // inner points a side; a fixed border around them
  static constexpr std::size_t default_iterations = 20;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::size_t stride = c.n() + 2;
    const std::size_t iterations = c.iterations(default_iterations);
    std::vector<float> input(stride * stride);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(mix64(i) % 256);
    std::vector<float> one, two;
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3,
          [&] {
            one = input;
            two = input;
          },
          [&] {
            for (std::size_t i = 0; i < iterations; ++i) {
              const heat2d_grid g{i % 2 == 0 ? one.data() : two.data(),
                                  i % 2 == 0 ? two.data() : one.data(), stride};
              heat2d_task<Backend>(g, 1, stride - 1, 1, stride - 1);
            }
          },
          [&] {
            digest d;
            for (const float x : iterations % 2 == 0 ? one : two)
              d.add(std::bit_cast<std::uint32_t>(x));
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench
