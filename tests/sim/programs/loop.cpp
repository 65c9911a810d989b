// Ten sweeps of a parallel loop over an array, annotated.
#include <cstdio>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/parallel_for.hpp>

int main() {
  constexpr std::size_t rows = 512, columns = 1024;
  std::vector<double> a(rows * columns);
  for (int sweep = 0; sweep < 10; ++sweep) {
    heddle::parallel_for(std::size_t{0}, rows, [&](std::size_t row) {
      double* const line = &a[row * columns];
      heddle::cost::read(line, columns * sizeof(double));
      heddle::cost::write(line, columns * sizeof(double));
      heddle::cost::cycles(columns);
      if (heddle::cost::only()) return;
      for (std::size_t i = 0; i < columns; ++i) line[i] += static_cast<double>(i);
    });
  }
  std::printf("%g\n", a[rows * columns / 2 + 7]);
}
