// The Mandelbrot set, n x n points, rows halved down to single ones: bound by computation, rows of very unequal work.
// "MB" of Chen and Guo, section 3.8. Its unit is compiled without fused multiplications: the same counts everywhere.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/common.hpp"
#include "harness/cost.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

inline constexpr std::uint32_t mandelbrot_limit = 256;
// A step: two multiplications and two additions that wait for each other, four cycles each. Counted, not measured.
inline constexpr double mandelbrot_step_cycles = 16;

// Returns the number of steps until z = z^2 + c leaves the circle of radius 2, or mandelbrot_limit if it does not.
inline std::uint32_t mandelbrot_steps(double re, double im) {
  double x = 0, y = 0;
  for (std::uint32_t i = 0; i < mandelbrot_limit; ++i) {
    const double xx = x * x, yy = y * y;
    if (xx + yy > 4) return i;
    y = 2 * x * y + im;
    x = xx - yy + re;
  }
  return mandelbrot_limit;
}

// Row y of n: re from -2 to 1, im from -1.5 to 1.5, at the middles of n intervals.
inline void mandelbrot_row(std::size_t n, std::size_t y, std::uint32_t* to) {
  const double step = 3 / static_cast<double>(n);
  std::uint64_t steps = 0;
  for (std::size_t x = 0; x < n; ++x) {
    to[x] = mandelbrot_steps(-2 + (static_cast<double>(x) + 0.5) * step, -1.5 + (static_cast<double>(y) + 0.5) * step);
    steps += to[x];
  }
  told::write(to, n * sizeof(*to));
  told::cycles(mandelbrot_step_cycles * static_cast<double>(steps + n));
}

struct mandelbrot {
  static constexpr std::size_t default_n = 1024;
  template <class Backend>
  static constexpr bool supports = Backend::tasks;

  template <class Backend>
  static void execute(context& c) {
    const std::size_t n = c.n();
    if (n == 0 || n > 1 << 16)
      throw std::invalid_argument("--n " + std::to_string(n) + ": a side has 1 to 65,536 points");
    std::vector<std::uint32_t> counts(n * n);
    Backend backend(c.options());
    backend.run([&] {
      c.measure(
          "time", "ms", 1e3, [&] { std::fill(counts.begin(), counts.end(), 0); },
          [&] {
            for_halves<Backend>(0, n, 1, n * sizeof(std::uint32_t), 1, [&](std::size_t first, std::size_t last) {
              for (std::size_t y = first; y < last; ++y) mandelbrot_row(n, y, &counts[y * n]);
            });
          },
          [&] {
            digest d;
            for (const std::uint32_t x : counts) d.add(x);
            return d.value();
          });
    });
  }
};

}  // namespace heddle::bench
