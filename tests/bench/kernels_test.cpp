// The kernels on serial, against results known otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numbers>

#include "backend/serial.hpp"
#include "captured.hpp"
#include "fft/fft.hpp"
#include "fib/fib.hpp"
#include "heat2d/heat2d.hpp"
#include "loop/loop.hpp"
#include "lu/lu.hpp"
#include "matmul/matmul.hpp"
#include "mergesort/mergesort.hpp"
#include "nqueens/nqueens.hpp"
#include "quicksort/quicksort.hpp"
#include "skynet/skynet.hpp"
#include "uts/uts.hpp"
#include "wavefront/wavefront.hpp"

namespace heddle::bench {
namespace {

template <class Kernel>
auto on_serial(std::size_t n, std::size_t iterations = 0) {
  return measured<serial_backend, Kernel>(n, 1, iterations);
}

TEST(fib, counts_spawns_as_inner_nodes) {
  EXPECT_EQ(fib_spawns(1), 0u);
  EXPECT_EQ(fib_spawns(2), 1u);
  EXPECT_EQ(fib_spawns(3), 2u);
  EXPECT_EQ(fib_spawns(35), 14930351u);
  EXPECT_EQ(on_serial<fib>(20).at("ns_per_spawn").checksum, 6765u);
  EXPECT_EQ(on_serial<fib>(20).at("ns_per_spawn").samples.size(), 2u);
}

TEST(nqueens, counts_the_known_solutions) {
  const std::uint64_t known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352};
  for (std::size_t n = 1; n < std::size(known); ++n)
    EXPECT_EQ(on_serial<nqueens>(n).at("time").checksum, known[n]) << n;
}

TEST(uts, has_the_size_of_the_published_rows) {
  const auto m = on_serial<uts>(uts::default_n);
  EXPECT_EQ(m.at("binomial").checksum, 4067361u);
  EXPECT_EQ(m.at("geometric").checksum, 3973675u);
}

TEST(uts, geometric_children_follow_the_table) {
  EXPECT_EQ(uts_geometric::children(~std::uint64_t{0}, 0), 0);
  EXPECT_EQ(uts_geometric::children(0, uts_geometric::deepest), 0);
  EXPECT_GT(uts_geometric::children(0, 0), 50);
  EXPECT_NEAR(static_cast<double>(uts_geometric::thresholds[0]) / 9007199254740992.0, 0.8, 1e-12);
}

TEST(skynet, sums_the_leaves) { EXPECT_EQ(on_serial<skynet>(1000).at("time").checksum, 499500u); }

TEST(matmul, equals_the_three_loops) {
  const std::size_t n = 150;  // no power of two, sides of unequal halves
  std::vector<float> a(n * n), b(n * n), c(n * n), d(n * n);
  for (std::size_t i = 0; i < n * n; ++i)
    a[i] = static_cast<float>(mix64(i) % 5) - 2, b[i] = static_cast<float>(mix64(i + 7) % 5) - 2;
  matmul_task<serial_backend>(c.data(), a.data(), b.data(), n, n, n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) d[i * n + j] += a[i * n + k] * b[k * n + j];
  EXPECT_EQ(c, d);
}

template <class Sort>
void expect_sorts(Sort&& sort) {
  for (const std::size_t n : {0, 1, 2, 3, 25, 100, 5000, 100'000}) {
    for (const std::uint32_t mask : {0u, 7u, ~0u}) {  // all equal, many equal, few equal
      auto numbers = random_numbers(n);
      for (auto& x : numbers) x &= mask;
      auto expected = numbers;
      std::sort(expected.begin(), expected.end());
      sort(numbers);
      ASSERT_EQ(numbers, expected) << n << " " << mask;
    }
  }
  auto rising = random_numbers(3000);
  std::sort(rising.begin(), rising.end());
  auto falling = rising;
  std::reverse(falling.begin(), falling.end());
  sort(falling);
  EXPECT_EQ(falling, rising);
}

TEST(quicksort, sorts) {
  expect_sorts([](std::vector<std::uint32_t>& v) {
    quicksort_task<serial_backend>(v.data(), v.data() + v.size());
  });
}

TEST(mergesort, sorts) {
  expect_sorts([](std::vector<std::uint32_t>& v) {
    std::vector<std::uint32_t> other(v.size());
    mergesort_task<serial_backend>(v.data(), v.data() + v.size(), other.data(), false);
  });
}

TEST(sorts, agree) {
  EXPECT_EQ(on_serial<quicksort>(10'000).at("time").checksum,
            on_serial<mergesort>(10'000).at("time").checksum);
}

TEST(heat2d, blocks_equal_whole_rows) {
  const std::size_t n = 150, stride = n + 2;
  std::vector<float> from(stride * stride), to(from), plain(from);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(mix64(i) % 256);
  heat2d_task<serial_backend>({from.data(), to.data(), stride}, 1, stride - 1, 1, stride - 1);
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t j = 1; j <= n; ++j)
      plain[i * stride + j] = (from[(i - 1) * stride + j] + from[(i + 1) * stride + j] +
                               from[i * stride + j - 1] + from[i * stride + j + 1]) /
                              4;
  EXPECT_EQ(to, plain);
}

TEST(heat2d, iterations_change_the_result) {
  EXPECT_NE(on_serial<heat2d>(70, 1).at("time").checksum,
            on_serial<heat2d>(70, 2).at("time").checksum);
}

TEST(lu, factors_multiply_to_the_matrix) {
  const std::size_t n = 150;
  std::vector<double> input(n * n);
  for (std::size_t i = 0; i < n * n; ++i) input[i] = static_cast<double>(mix64(i) % 1024) / 1024;
  for (std::size_t i = 0; i < n; ++i) input[i * n + i] += n;
  auto f = input;
  lu_tasks<serial_backend>::factor(f.data(), n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = i <= j ? f[i * n + j] : 0;  // L has ones on its diagonal
      for (std::size_t k = 0; k < std::min(i, j + 1); ++k) sum += f[i * n + k] * f[k * n + j];
      ASSERT_NEAR(sum, input[i * n + j], 1e-9) << i << " " << j;
    }
  }
}

TEST(lu, checksum_is_that_of_the_known_solution_and_notices_an_error) {
  const std::size_t n = 100;
  std::vector<double> input(n * n);
  for (std::size_t i = 0; i < n * n; ++i) input[i] = static_cast<double>(mix64(i) % 1024) / 1024;
  for (std::size_t i = 0; i < n; ++i) input[i * n + i] += n;
  auto f = input;
  lu_tasks<serial_backend>::factor(f.data(), n, n);
  digest known;
  for (std::size_t i = n; i-- > 0;) known.add((i % 7 + 1) * 1'000'000);
  EXPECT_EQ(lu::solve(input, f, n), known.value());
  f[5 * n + 3] += 1e-3;
  EXPECT_NE(lu::solve(input, f, n), known.value());
}

TEST(fft, equals_the_definition) {
  const std::size_t n = 64;
  const auto w = fft::twiddles(n);
  std::vector<complex_number> in(n), out(n);
  for (std::size_t i = 0; i < n; ++i)
    in[i] = {static_cast<double>(mix64(i) % 100), static_cast<double>(mix64(i + n) % 100)};
  fft_task<serial_backend>(out.data(), in.data(), n, w.data(), 1);
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (std::size_t j = 0; j < n; ++j)
      sum += std::complex<double>(in[j].re, in[j].im) *
             std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k) / n);
    EXPECT_NEAR(out[k].re, sum.real(), 1e-9);
    EXPECT_NEAR(out[k].im, sum.imag(), 1e-9);
  }
}

TEST(fft, signal_has_its_four_tones) {
  const std::size_t n = std::size_t{1} << 15;  // above both limits, so that invoke is reached
  const auto w = fft::twiddles(n);
  const auto in = fft::signal(n, w);
  std::vector<complex_number> out(n), expected(n, {0, 0});
  fft_task<serial_backend>(out.data(), in.data(), n, w.data(), 1);
  for (std::size_t t = 0; t < 4; ++t) expected[mix64(t) % n].re += static_cast<double>((t + 1) * n);
  for (std::size_t k = 0; k < n; ++k) {
    ASSERT_NEAR(out[k].re, expected[k].re, 1e-6) << k;
    ASSERT_NEAR(out[k].im, expected[k].im, 1e-6) << k;
  }
}

TEST(fft, refuses_other_sizes) { EXPECT_THROW(on_serial<fft>(100), std::invalid_argument); }

TEST(loop, leaves_the_input_and_runs_three_lengths) {
  const auto m = on_serial<loop>(0, 10);
  EXPECT_EQ(m.size(), 3u);
  EXPECT_EQ(m.at("n=2").checksum, 2u);  // 0 * 1 + 1 * 2
  EXPECT_EQ(on_serial<loop>(50, 10).size(), 1u);
}

TEST(wavefront, visits_in_order) {
  const auto m = on_serial<wavefront>(8);
  EXPECT_EQ(m.at("counters").checksum, 3432u);  // paths through 8 x 8: 14 over 7
  EXPECT_EQ(m.at("graph").checksum, 3432u);
  EXPECT_EQ(on_serial<wavefront>(1).at("counters").checksum, 1u);
}

TEST(measure, tells_two_runs_that_differ) {
  context c(settings{});
  int calls = 0;
  EXPECT_THROW(c.measure(
                   "m", "ms", 1, [] {}, [] {}, [&] { return static_cast<std::uint64_t>(++calls); }),
               std::runtime_error);
}

}  // namespace
}  // namespace heddle::bench
