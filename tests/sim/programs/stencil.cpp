// Sweeps of a 7-point stencil over a box of side x side x planes doubles, a loop over its rows, annotated: what a row
// reads of the plane before is read again a plane later. The loop has no schedule: HEDDLE_LOOP says which.
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/parallel_for.hpp>

int main(int argc, char** argv) {
  const std::size_t side = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 64;
  const std::size_t planes = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 16;
  const int sweeps = argc > 3 ? std::atoi(argv[3]) : 1;
  const std::size_t row = side + 8 - side % 8, plane = row * (side + 2);  // rows begin at lines, with room at the end
  std::vector<double> a(plane * (planes + 2), 1), b(a);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    heddle::parallel_for(std::size_t{0}, side * planes, [&](std::size_t i) {
      const std::size_t at = (i / side + 1) * plane + (i % side + 1) * row;
      const double* const from = &a[at];
      double* const to = &b[at];
      const std::size_t bytes = side * sizeof(double);
      heddle::cost::rows({{from - plane, bytes, bytes, 0},
                          {from - row, bytes, bytes, 0},
                          {from, bytes, bytes, 0},
                          {from + row, bytes, bytes, 0},
                          {from + plane, bytes, bytes, 0},
                          {to, bytes, bytes, 1}},
                         1);
      heddle::cost::cycles(static_cast<double>(side));
      if (heddle::cost::only()) return;
      for (std::size_t x = 1; x + 1 < side; ++x) {
        to[x] = (from[x - 1] + from[x + 1] + from[x - row] + from[x + row] + from[x - plane] + from[x + plane]) / 6;
      }
    });
    std::swap(a, b);
  }
  std::printf("%g\n", a[plane * (planes / 2 + 1) + row * (side / 2) + 3]);
}
