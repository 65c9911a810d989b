// heddle-cachegrind-kernels KERNEL N: one serial run of a kernel of bench/, as small as a program can be around it.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backend/serial.hpp"
#include "fft/fft.hpp"
#include "heat2d/heat2d.hpp"
#include "matmul/matmul.hpp"
#include "mergesort/mergesort.hpp"
#include "quicksort/quicksort.hpp"

using namespace heddle::bench;

namespace {

double run_matmul(std::size_t n) {
  std::vector<float> a(n * n, 1), b(n * n, 2), c(n * n, 0);
  matmul_task<serial_backend>(c.data(), a.data(), b.data(), n, n, n, n);
  return static_cast<double>(c[n]);
}

double run_heat2d(std::size_t n) {
  const std::size_t stride = n + 2;
  std::vector<std::remove_pointer_t<decltype(heat2d_grid::to)>> one(stride * stride, 1), two(stride * stride, 1);
  for (std::size_t i = 0; i < 4; ++i) {
    const heat2d_grid g{i % 2 == 0 ? one.data() : two.data(), i % 2 == 0 ? two.data() : one.data(), stride};
    heat2d_task<serial_backend>(g, 1, stride - 1, 1, stride - 1);
  }
  return static_cast<double>(one[stride + 1]);
}

double run_fft(std::size_t n) {
  const auto w = fft::twiddles(n);
  std::vector<complex_number> in(n, {1, 0}), out(n);
  fft_task<serial_backend>(out.data(), in.data(), n, w.data(), 1);
  return out[0].re;
}

double run_mergesort(std::size_t n) {
  std::vector<std::uint32_t> numbers = random_numbers(n), other(n);
  mergesort_task<serial_backend>(numbers.data(), numbers.data() + n, other.data(), false);
  return numbers[n / 2];
}

double run_quicksort(std::size_t n) {
  std::vector<std::uint32_t> numbers = random_numbers(n);
  quicksort_task<serial_backend>(numbers.data(), numbers.data() + n);
  return numbers[n / 2];
}

struct entry {
  std::string_view name;
  double (*run)(std::size_t n);
};
constexpr entry entries[] = {{"matmul", run_matmul},
                             {"heat2d", run_heat2d},
                             {"fft", run_fft},
                             {"mergesort", run_mergesort},
                             {"quicksort", run_quicksort}};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    const auto n = static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10));
    for (const entry& kernel : entries) {
      if (kernel.name != argv[1] || n < 2) continue;
      std::printf("%s %zu: %g\n", argv[1], n, kernel.run(n));
      return 0;
    }
  }
  std::fputs("usage: heddle-cachegrind-kernels matmul|heat2d|fft|mergesort|quicksort N\n", stderr);
  return 2;
}
