// A loop over n solvers, one more than there are workers. Each solver smooths points of its own sweep by sweep with
// parallel loops. So parallel code calls parallel code, as in programs that are made of libraries. The figure is the
// milliseconds for all solvers.
//   solvers        with the runtime's own settings; OpenMP then runs the inner loops on one thread each
//   solvers_open   OpenMP only: nested regions may be parallel (omp_set_max_active_levels(2)), which makes the solvers
//   share the workers evenly
// --iterations is the number of sweeps. The points are small integers times powers of two, so sums are exact in any
// order.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "harness/cost.hpp"
#include "harness/kernel.hpp"

namespace heddle::bench {

struct nested {
  static constexpr std::size_t default_n = 3;
  static constexpr std::size_t points = 3600;
  template <class Backend>
  static constexpr bool supports = Backend::loops;

  // Each point becomes half of itself and a quarter of each neighbour.
  template <class Backend, told::telling Tell>
  static double solve(std::size_t seed, std::size_t sweeps) {
    std::vector<double> now(points), next(points);
    for (std::size_t i = 0; i < points; ++i) now[i] = static_cast<double>(seed + 1);
    for (std::size_t s = 0; s < sweeps; ++s) {
      Backend::loop(points, [from = now.data(), to = next.data()](std::size_t i) {
        if constexpr (Tell == told::telling::yes) {
          if (i % 8 == 0) {
            told::read(from + i, 64);
            told::write(to + i, 64);
            told::cycles(12);
          }
        }
        to[i] = 0.5 * from[i] + 0.25 * (from[i + 1 < points ? i + 1 : 0] + from[i > 0 ? i - 1 : points - 1]);
      });
      std::swap(now, next);
    }
    double sum = 0;
    for (const double value : now) sum += value;
    return sum;
  }

  template <class Backend>
  static void measure(context& c, const char* metric) {
    const std::size_t solvers = c.n();
    const std::size_t sweeps = c.iterations(1000);
    std::vector<double> sums(solvers);
    c.measure(
        metric, "ms", 1e3, [] {},
        [&] {
          told::choose([&]<told::telling Tell>() {
            Backend::each(solvers, [&](std::size_t i) { sums[i] = solve<Backend, Tell>(i, sweeps); });
          });
        },
        [&] {
          double sum = 0;
          for (const double one : sums) sum += one;
          return static_cast<std::uint64_t>(sum);
        });
  }

  template <class Backend>
  static void execute(context& c) {
    Backend backend(c.options());
    backend.run_loops([&] {
      if (c.wants("solvers")) measure<Backend>(c, "solvers");
      if (!c.wants("solvers_open")) return;
      if constexpr (requires { Backend::allow_nested_regions(); }) {
        Backend::allow_nested_regions();
        measure<Backend>(c, "solvers_open");
      } else if constexpr (Backend::is_serial) {
        measure<Backend>(c, "solvers_open");  // reports the expected result
      }
    });
  }
};

}  // namespace heddle::bench
