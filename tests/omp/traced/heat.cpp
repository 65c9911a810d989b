// Heat in a square plate by recursive OpenMP tasks: each iteration halves the rows down to blocks, and waits for them.
// The next iteration comes back to the same rows. `heat [ROWS [ITERATIONS]]`; prints the sum, which is the same under
// every policy.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <heddle/cost.hpp>
#include <heddle/trace.hpp>

namespace {

constexpr int block = 8;  // rows

struct plate {
  int size;
  std::vector<double> from, to;

  explicit plate(int n) : size(n), from(static_cast<std::size_t>(n) * n), to(from) {}

  void rows(int first, int end) {
    heddle::trace::piece("heat", static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end));
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(double);
    const int above = first > 0 ? first - 1 : first, below = end < size ? end + 1 : end;
    heddle::cost::read(&from[static_cast<std::size_t>(above) * size], static_cast<std::size_t>(below - above) * bytes);
    heddle::cost::write(&to[static_cast<std::size_t>(first) * size], static_cast<std::size_t>(end - first) * bytes);
    heddle::cost::cycles(1.5 * (end - first) * size);
    for (int i = first; i < end; ++i) {
      for (int k = 0; k < size; ++k) {
        const auto at = [&](int row, int column) {
          return row < 0 || row >= size || column < 0 || column >= size
                     ? 1.0
                     : from[static_cast<std::size_t>(row) * size + column];
        };
        to[static_cast<std::size_t>(i) * size + k] = 0.25 * (at(i - 1, k) + at(i + 1, k) + at(i, k - 1) + at(i, k + 1));
      }
    }
  }

  void step(int first, int end) {
    if (end - first <= block) return rows(first, end);
    const int middle = first + (end - first) / 2;
#pragma omp task
    step(middle, end);
#pragma omp task
    step(first, middle);
#pragma omp taskwait
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 512;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 6;
  plate p(size);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < iterations; ++i) {
#pragma omp task
    p.step(0, size);
#pragma omp taskwait
    p.from.swap(p.to);
  }
  double sum = 0;
  for (const double x : p.from) sum += x;
  std::printf("%.6f\n", sum);
}
