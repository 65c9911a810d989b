// The kernels on serial, against results known otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numbers>

#include "backend/serial.hpp"
#include "bufsort/bufsort.hpp"
#include "captured.hpp"
#include "fft/fft.hpp"
#include "fib/fib.hpp"
#include "heat2d/heat2d.hpp"
#include "kdtree/kdtree.hpp"
#include "loop/loop.hpp"
#include "lu/lu.hpp"
#include "matmul/matmul.hpp"
#include "mergesort/mergesort.hpp"
#include "nqueens/nqueens.hpp"
#include "quicksort/quicksort.hpp"
#include "rrm/rrm.hpp"
#include "skynet/skynet.hpp"
#include "sph2d/sph2d.hpp"
#include "sph3d/sph3d.hpp"
#include "uts/uts.hpp"
#include "wavefront/wavefront.hpp"

namespace heddle::bench {
namespace kernels_test {
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
  EXPECT_EQ(on_serial<fib>(20).at("ns_per_spawn from main").checksum, 6765u);
}

TEST(context, refuses_a_variant_or_iterations_that_the_kernel_lacks) {
  const auto refusal = [](auto&& run) -> std::string {
    try {
      run();
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal([] { measured<serial_backend, fib>(10, 1, 0, "nope"); }), "--variant 'nope': it has no variants");
  EXPECT_TRUE(captured.empty());  // before it was run
  EXPECT_EQ(refusal([] { measured<serial_backend, uts>(10, 1, 0, "nope"); }),
            "--variant 'nope': it has binomial, geometric");
  EXPECT_EQ(refusal([] { measured<serial_backend, uts>(10, 1, 0, "binomial"); }), "accepted");
  EXPECT_EQ(refusal([] { measured<serial_backend, fib>(10, 1, 3); }), "--iterations: it takes none");
  EXPECT_EQ(refusal([] { measured<serial_backend, rrm>(64, 1, 2); }), "accepted");
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
  expect_sorts([](std::vector<std::uint32_t>& v) { quicksort_task<serial_backend>(v.data(), v.data() + v.size()); });
}

TEST(mergesort, sorts) {
  expect_sorts([](std::vector<std::uint32_t>& v) {
    std::vector<std::uint32_t> other(v.size());
    mergesort_task<serial_backend>(v.data(), v.data() + v.size(), other.data(), false);
  });
}

TEST(sorts, agree) {
  EXPECT_EQ(on_serial<quicksort>(10'000).at("time").checksum, on_serial<mergesort>(10'000).at("time").checksum);
}

TEST(heat2d, blocks_equal_whole_rows) {
  const std::size_t n = 150, stride = n + 2;
  std::vector<float> from(stride * stride), to(from), plain(from);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(mix64(i) % 256);
  heat2d_task<serial_backend>({from.data(), to.data(), stride}, 1, stride - 1, 1, stride - 1);
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t j = 1; j <= n; ++j)
      plain[i * stride + j] = (from[(i - 1) * stride + j] + from[(i + 1) * stride + j] + from[i * stride + j - 1] +
                               from[i * stride + j + 1]) /
                              4;
  EXPECT_EQ(to, plain);
}

TEST(heat2d, iterations_change_the_result) {
  EXPECT_NE(on_serial<heat2d>(70, 1).at("time").checksum, on_serial<heat2d>(70, 2).at("time").checksum);
}

TEST(heat2d, rows_and_grids_lie_at_lines) {
  for (const std::size_t n : {64, 150, 1000, 2048, 4096}) {
    const heat2d_memory memory(n, touch::first);
    EXPECT_GE(memory.shape().stride, n + 2);
    EXPECT_EQ(memory.shape().stride % 32, 16u) << "an odd number of lines";
    for (const std::size_t grid : {0, 1}) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.grid(grid) + 1) % 64, 0u);
    EXPECT_EQ((memory.grid(1) - memory.grid(0)) % 1024, 512);
  }
}

TEST(heat2d, wrong_hints_are_the_thesis_s) {
  heat2d_grid g{nullptr, nullptr, 100, 0.1, 0};
  const double area[4] = {100, 100, 100, 100};
  const heat2d_work fixed(g, 1, 1, area);
  const double expected[4] = {90, 95, 105, 110};
  for (int i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(fixed.of[i], expected[i]);
  g.random = 7;
  double least = 1000, most = 0;
  for (std::size_t row = 1; row < 500; row += 64) {
    const heat2d_work random(g, row, 1, area);
    for (const double w : random.of) least = std::min(least, w), most = std::max(most, w);
  }
  EXPECT_GE(least, 90);
  EXPECT_LE(most, 110);
  EXPECT_GT(most - least, 10);
  g.alpha = 0;
  EXPECT_EQ(heat2d_work(g, 1, 1, area).of[3], 100);
}

TEST(partition_into, keeps_the_order_on_both_sides) {
  for (const std::size_t n : {0, 1, 5, 1000, 100'000}) {
    std::vector<std::uint32_t> from(n), to(n), expected;
    for (std::size_t i = 0; i < n; ++i) from[i] = static_cast<std::uint32_t>(mix64(i));
    const auto lower = [](std::uint32_t x) { return x % 3 == 0; };
    std::copy_if(from.begin(), from.end(), std::back_inserter(expected), lower);
    const std::size_t border = expected.size();
    std::copy_if(from.begin(), from.end(), std::back_inserter(expected), [&](std::uint32_t x) { return !lower(x); });
    EXPECT_EQ((partition_into<serial_backend>(from.data(), to.data(), n, 4096, lower)), border);
    EXPECT_EQ(to, expected);
  }
}

TEST(bufsort, sorts) {
  for (const std::size_t n : {0, 1, 100, 10'000, 100'000}) {
    for (const std::uint64_t kinds : {1u, 3u, 1u << 20}) {
      std::vector<double> numbers(n), other(n);
      for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<double>(mix64(i) % kinds);
      auto expected = numbers;
      std::sort(expected.begin(), expected.end());
      bufsort_task<serial_backend>(numbers.data(), other.data(), n, false);
      ASSERT_EQ(numbers, expected) << n << " of " << kinds;
    }
  }
}

// The points of a node, by position, as its ancestors cut them.
void expect_cut(const std::vector<kdtree_point>& points, const std::vector<kdtree_node>& nodes, std::size_t first,
                std::size_t last, std::size_t& inner) {
  for (std::size_t border = first + 1; border < last; ++border) {
    const kdtree_node& n = nodes[border];
    if (n.count != last - first) continue;
    ++inner;
    for (std::size_t i = first; i < last; ++i) ASSERT_EQ(points[i].at[n.axis] < n.pivot, i < border) << i;
    expect_cut(points, nodes, first, border, inner);
    expect_cut(points, nodes, border, last, inner);
    return;
  }
  EXPECT_LT((last - first) * sizeof(kdtree_point), kdtree_leaf);
}

TEST(kdtree, cuts_where_its_nodes_say) {
  const std::size_t n = 20'000;
  std::vector<kdtree_point> points(n), other(n);
  for (std::size_t i = 0; i < n; ++i) points[i] = kdtree_random(i);
  std::vector<kdtree_node> nodes(n + 1);
  // Leaves end in either buffer: build it once more over what both say.
  kdtree_task<serial_backend>(points.data(), other.data(), nodes.data(), 0, n, 0);
  std::size_t inner = 0;
  std::vector<kdtree_point> in_order(n);
  // Where a leaf's points are follows from its depth.
  const auto gather = [&](auto&& self, std::size_t first, std::size_t last, bool away) -> void {
    for (std::size_t border = first + 1; border < last; ++border) {
      if (nodes[border].count != last - first) continue;
      self(self, first, border, !away);
      return self(self, border, last, !away);
    }
    std::copy_n((away ? other : points).begin() + static_cast<std::ptrdiff_t>(first), last - first,
                in_order.begin() + static_cast<std::ptrdiff_t>(first));
  };
  gather(gather, 0, n, false);
  expect_cut(in_order, nodes, 0, n, inner);
  EXPECT_GT(inner, n * sizeof(kdtree_point) / kdtree_leaf);
}

TEST(rrm, maps_each_element_as_often) {
  std::vector<double> array(10'000, 1.0);
  rrm_task<serial_backend>(array.data(), array.size());
  // 10,000 elements of 8 bytes: two levels above the leaves of less than 32 KB, three maps each and three there.
  double expected = 1;
  for (int i = 0; i < 9; ++i) expected += 0x1p-10 * expected;
  for (const double x : array) ASSERT_EQ(x, expected);
}

template <int D>
void expect_water() {
  sph_water<D> water(4000, touch::first);
  water.reset();
  double before = 0, after = 0;
  const auto momentum = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < water.size(); ++i) sum += water.particles()[i].v[1];
    return sum;
  };
  for (int step = 0; step < 5; ++step) {
    water.build();
    std::vector<int> seen(water.size());
    std::size_t leaves = 0;
    sph_leaves<serial_backend, D>(water.nodes(), 0, 1, [&](const sph_node<D>& leaf) {
      ++leaves;
      EXPECT_LE(leaf.last - leaf.first, sph_leaf);
      for (std::size_t i = leaf.first; i < leaf.last; ++i) ++seen[i];
      water.density(leaf);
    });
    EXPECT_GT(leaves, water.size() / sph_leaf);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(water.size()));
    sph_leaves<serial_backend, D>(water.nodes(), 0, 1, [&](const sph_node<D>& leaf) { water.force(leaf); });
    before = momentum();
    water.move(0, water.size());
    after = momentum();
  }
  std::vector<double> densities;
  for (std::size_t i = 0; i < water.size(); ++i) densities.push_back(water.particles()[i].density);
  std::nth_element(densities.begin(), densities.begin() + static_cast<std::ptrdiff_t>(densities.size() / 2),
                   densities.end());
  EXPECT_NEAR(densities[densities.size() / 2], 1000, 60) << "inside it is water";
  EXPECT_LT(after, before) << "it falls";
}
TEST(sph2d, is_water) { expect_water<2>(); }
TEST(sph3d, is_water) { expect_water<3>(); }

// The forces between particles are equal and opposite, so gravity alone changes the sum of their momenta.
TEST(sph2d, keeps_momentum) {
  sph_water<2> water(2000, touch::first);
  water.reset();
  water.build();
  sph_leaves<serial_backend, 2>(water.nodes(), 0, 1, [&](const sph_node<2>& leaf) { water.density(leaf); });
  sph_leaves<serial_backend, 2>(water.nodes(), 0, 1, [&](const sph_node<2>& leaf) { water.force(leaf); });
  double x = 0, y = 0;
  for (std::size_t i = 0; i < water.size(); ++i) x += water.pull(i)[0], y += water.pull(i)[1];
  EXPECT_NEAR(x, 0, 1e-6);
  EXPECT_NEAR(y / static_cast<double>(water.size()), -sph_water<2>::gravity, 1e-6);
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

TEST(loop, leaves_the_input_and_runs_all_forms) {
  const auto m = on_serial<loop>(0, 2);
  EXPECT_EQ(m.size(), 20u);
  for (const char* form : {"n=10000000", "triangle=300", "triangle=3000", "spike", "first", "last", "tail"}) {
    ASSERT_TRUE(m.contains(form)) << form;
    ASSERT_TRUE(m.contains(std::string(form) + " from main")) << form;
    EXPECT_EQ(m.at(std::string(form) + " from main").checksum, m.at(form).checksum) << form;
  }
  EXPECT_EQ(m.at("n=2").checksum, 2u);  // 0 * 1 + 1 * 2
  EXPECT_EQ(on_serial<loop>(50, 10).size(), 2u);
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
  EXPECT_THROW(
      c.measure("m", "ms", 1, [] {}, [] {}, [&] { return static_cast<std::uint64_t>(++calls); }), std::runtime_error);
}

}  // namespace
}  // namespace kernels_test
}  // namespace heddle::bench
