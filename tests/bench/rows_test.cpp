// Grids that are cut by rows: the shapes of the trees, what the kernels compute, and the same result from every tree,
// runtime, policy and number of workers.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "backend/heddle.hpp"
#include "backend/serial.hpp"
#include "captured.hpp"
#include "ge/ge.hpp"
#include "heat/heat.hpp"
#include "sor/sor.hpp"
#include "stencil25/stencil25.hpp"
#include "stencil6/stencil6.hpp"
#include "stencil9/stencil9.hpp"

namespace heddle::bench {
namespace rows_test {
namespace {

// Writes down each group of children: their work, and the bytes of all.
struct group_seen {
  std::vector<double> work;
  std::size_t bytes;
  bool operator==(const group_seen&) const = default;
};
struct watching_backend : serial_backend {
  using serial_backend::serial_backend;
  static inline std::vector<group_seen> groups;
  template <class F>
  static void children(int n, const double* work, std::size_t bytes, const F& f) {
    groups.push_back({{work, work + n}, bytes});
    for (int i = 0; i < n; ++i) f(i);
  }
};

std::vector<std::size_t> leaves(rows_tree tree, std::size_t rows, std::size_t leaf) {
  watching_backend::groups.clear();
  std::vector<std::size_t> sizes;
  std::size_t next = 3;
  rows_all<watching_backend>({tree, leaf, 10, 100}, 3, 3 + rows, [&](std::size_t first, std::size_t last) {
    EXPECT_EQ(first, next);
    EXPECT_LT(first, last);
    sizes.push_back(last - first);
    next = last;
  });
  EXPECT_EQ(next, 3 + rows);
  return sizes;
}

TEST(rows_task, regular_trees_halve) {
  EXPECT_EQ(leaves(rows_tree::regular, 32, 8), (std::vector<std::size_t>{8, 8, 8, 8}));
  const std::vector<group_seen> expected{{{160, 160}, 3200}, {{80, 80}, 1600}, {{80, 80}, 1600}};
  EXPECT_EQ(watching_backend::groups, expected);
}

// Each `heat` has a `heat2` and a `heat`; each `heat2` has heat, heat, heat2, heat.
TEST(rows_task, irregular_trees_are_those_of_algorithm_3) {
  const std::vector<std::size_t> first_half{8, 8, 8, 8, 4, 4, 4, 4, 8, 8}, second_half{8, 8, 8, 8, 4, 4, 4, 4, 8, 8};
  std::vector<std::size_t> expected_leaves = first_half;
  expected_leaves.insert(expected_leaves.end(), second_half.begin(), second_half.end());
  EXPECT_EQ(leaves(rows_tree::irregular, 128, 8), expected_leaves);
  const std::vector<group_seen> expected{{{640, 640}, 12800},           // the root, a heat
                                         {{160, 160, 160, 160}, 6400},  // its heat2
                                         {{80, 80}, 1600},
                                         {{80, 80}, 1600},
                                         {{40, 40, 40, 40}, 1600},
                                         {{80, 80}, 1600},
                                         {{320, 320}, 6400},  // its heat
                                         {{80, 80, 80, 80}, 3200},
                                         {{160, 160}, 3200},
                                         {{40, 40, 40, 40}, 1600},
                                         {{80, 80}, 1600}};
  EXPECT_EQ(watching_backend::groups, expected);
}

TEST(rows_task, any_number_of_rows_and_any_leaf) {
  for (const rows_tree tree : {rows_tree::regular, rows_tree::irregular}) {
    for (std::size_t rows = 0; rows < 70; ++rows) {
      for (const std::size_t leaf : {1, 2, 3, 5, 64, 100}) {
        for (const std::size_t size : leaves(tree, rows, leaf)) ASSERT_LE(size, leaf) << rows;
      }
    }
  }
}

TEST(rows_shape, lines_begin_at_cache_lines_and_rows_are_apart) {
  const struct {
    std::size_t columns, reach;
    bool solid;
  } sizes[] = {{512, 1, false}, {1024, 0, false}, {7, 1, false}, {64, 1, true}, {64, 4, true}, {10, 4, true}};
  for (const auto& [columns, reach, solid] : sizes) {
    const rows_shape s(5, columns, reach, solid);
    EXPECT_GE(s.stride, columns + 2 * reach);
    EXPECT_GE(s.row, s.lines * s.stride);
    EXPECT_EQ(s.stride % 16, 8u) << "an odd number of cache lines";
    EXPECT_EQ(s.row % 16, 8u);
    const rows_memory memory(s, 2, touch::first);
    for (const std::size_t which : {0, 1})
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.grid(which) + s.line() * s.stride + reach) % 64, 0u);
    EXPECT_EQ((memory.grid(1) - memory.grid(0)) % 512, 256);
    EXPECT_GE(static_cast<std::size_t>(memory.grid(1) - memory.grid(0)), s.doubles());
  }
}

TEST(rows_shape, refuses_what_no_memory_has) {
  EXPECT_THROW(rows_shape(0, 10, 1, false), std::invalid_argument);
  EXPECT_THROW(rows_shape(10, 0, 1, false), std::invalid_argument);
  EXPECT_THROW(rows_shape(std::size_t{1} << 40, 10, 1, false), std::invalid_argument);
  EXPECT_THROW(rows_shape(~std::size_t{0}, 10, 1, false), std::invalid_argument);
  EXPECT_THROW(rows_shape(10, std::size_t{1} << 24, 4, true), std::invalid_argument);
  EXPECT_NO_THROW(rows_shape(1 << 20, 4096, 1, false));
}

// One step of a stencil over whole rows, from values(row, line, point), border included.
template <class Kernel, class Values, class Check>
void step(std::size_t rows, std::size_t columns, const Values& values, const Check& check) {
  const rows_shape s(rows, columns, Kernel::reach, Kernel::solid);
  const rows_memory memory(s, 2, touch::first);
  const rows_plan plan{rows_tree::irregular, 3, 1, 1};
  memory.start<serial_backend>(plan, values);
  stencil_iteration<serial_backend, Kernel>(plan, s, memory.grid(0), memory.grid(1));
  for (std::size_t i = 0; i < s.rows + 2 * s.reach; ++i) {
    for (std::size_t y = 0; y < s.lines; ++y) {
      for (std::size_t x = 0; x < columns + 2 * s.reach; ++x) {
        const auto in = [&](std::size_t at, std::size_t end) { return at >= s.reach && at < end - s.reach; };
        const bool inner =
            in(i, s.rows + 2 * s.reach) && in(x, columns + 2 * s.reach) && (!Kernel::solid || in(y, s.lines));
        const std::size_t at = i * s.row + y * s.stride + x;
        ASSERT_EQ(memory.grid(0)[at], values(i, y, x));
        check(inner, i, y, x, memory.grid(1)[at]);
      }
    }
  }
}

// A function whose stencil is known: what it becomes inside; the border stays.
template <class Kernel, class Values, class Becomes>
void expect_step(const Values& values, const Becomes& becomes) {
  step<Kernel>(11, 13, values, [&](bool inner, std::size_t i, std::size_t y, std::size_t x, double is) {
    ASSERT_NEAR(is, inner ? becomes(i, y, x) : values(i, y, x), 1e-9) << i << " " << y << " " << x;
  });
}
double linear(std::size_t i, std::size_t y, std::size_t x) {
  return 3 * static_cast<double>(i) - 2 * static_cast<double>(y) + 5 * static_cast<double>(x);
}
double square(std::size_t i, std::size_t y, std::size_t x) {
  return static_cast<double>(i * i) + static_cast<double>(y * y) + static_cast<double>(x * x);
}

TEST(heat, takes_the_mean_of_four) {
  expect_step<heat>(linear, linear);
  expect_step<heat>(square, [](auto i, auto y, auto x) { return square(i, y, x) + 1; });
}
TEST(stencil9, keeps_what_solves_laplace) {
  expect_step<stencil9>(linear, linear);
  const auto saddle = [](auto i, auto, auto x) {
    const auto a = static_cast<double>(i), b = static_cast<double>(x);
    return a * a * a - 3 * a * b * b;
  };
  expect_step<stencil9>(saddle, saddle);
  expect_step<stencil9>(square, [](auto i, auto y, auto x) { return square(i, y, x) + 24.0 / 20; });
}
TEST(stencil6, takes_the_mean_of_six) {
  expect_step<stencil6>(linear, linear);
  expect_step<stencil6>(square, [](auto i, auto y, auto x) { return square(i, y, x) + 1; });
}
TEST(stencil25, has_the_laplacian_of_a_polynomial_of_eighth_degree) {
  expect_step<stencil25>(linear, linear);
  expect_step<stencil25>(square, [](auto i, auto y, auto x) { return square(i, y, x) + 6 * stencil25::step; });
  const auto power = [](auto at, int n) { return std::pow((static_cast<double>(at) - 8) / 8, n); };
  expect_step<stencil25>([&](auto i, auto y, auto x) { return power(i, 8) + power(y, 6) + power(x, 9); },
                         [&](auto i, auto y, auto x) {
                           const double laplacian = (56 * power(i, 6) + 30 * power(y, 4) + 72 * power(x, 7)) / 64;
                           return power(i, 8) + power(y, 6) + power(x, 9) + stencil25::step * laplacian;
                         });
}

TEST(sor, equals_two_plain_sweeps_and_comes_to_rest) {
  const std::size_t rows = 21, columns = 18;
  const rows_shape s(rows, columns, 1, false);
  const rows_memory memory(s, 1, touch::first);
  const rows_plan plan{rows_tree::irregular, 2, 1, 1};
  memory.start<serial_backend>(plan, rows_random(s));
  std::vector<std::vector<double>> plain(rows + 2, std::vector<double>(columns + 2));
  for (std::size_t i = 0; i < rows + 2; ++i)
    for (std::size_t j = 0; j < columns + 2; ++j) plain[i][j] = rows_random(s)(i, 0, j);
  sor_iteration<serial_backend>(plan, s, memory.grid(0));
  for (const std::size_t colour : {0, 1}) {
    for (std::size_t i = 1; i <= rows; ++i) {
      for (std::size_t j = 1; j <= columns; ++j) {
        if ((i + j) % 2 != colour) continue;
        const double mean = (plain[i - 1][j] + plain[i + 1][j] + plain[i][j - 1] + plain[i][j + 1]) / 4;
        plain[i][j] = -0.5 * plain[i][j] + 1.5 * mean;
      }
    }
  }
  for (std::size_t i = 0; i < rows + 2; ++i)
    for (std::size_t j = 0; j < columns + 2; ++j)
      ASSERT_NEAR(memory.grid(0)[i * s.row + j], plain[i][j], 1e-9) << i << " " << j;
  for (int k = 0; k < 300; ++k) sor_iteration<serial_backend>(plan, s, memory.grid(0));
  for (std::size_t i = 1; i <= rows; ++i) {
    for (std::size_t j = 1; j <= columns; ++j) {
      const double* const p = memory.grid(0) + i * s.row + j;
      ASSERT_NEAR(*p, (p[-static_cast<std::ptrdiff_t>(s.row)] + p[s.row] + p[-1] + p[1]) / 4, 1e-9);
    }
  }
}

TEST(ge, factors_multiply_to_the_matrix) {
  const std::size_t n = 90;
  const rows_shape s(n, n, 0, false);
  const rows_memory memory(s, 1, touch::first);
  const rows_plan plan{rows_tree::irregular, 5, 1, 1};
  memory.start<serial_backend>(plan, ge::values(s));
  const double* const f = memory.grid(0);
  for (std::size_t k = 0; k < n; ++k) ge_iteration<serial_backend>(plan, s, memory.grid(0), k);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = i <= j ? f[i * s.row + j] : 0;  // L has ones on its diagonal
      for (std::size_t k = 0; k < std::min(i, j + 1); ++k) sum += f[i * s.row + k] * f[k * s.row + j];
      ASSERT_NEAR(sum, ge::values(s)(i, 0, j), 1e-9) << i << " " << j;
    }
  }
}

struct size_asked {
  std::size_t n, iterations, columns, leaf;
};
template <class Backend, class Kernel>
auto run(size_asked size, unsigned workers = 1, const char* policy = "", const char* variant = "") {
  captured.clear();
  settings s;
  s.kernel = "it";
  s.n = size.n;
  s.iterations = size.iterations;
  s.columns = size.columns;
  s.leaf = size.leaf;
  s.workers = workers;
  s.policy = policy;
  s.variant = variant;
  s.samples = 1;
  context c(s);
  Kernel::template execute<Backend>(c);
  c.check_variant();
  c.check_taken();
  return captured;
}

template <class Kernel>
void expect_same(size_asked size) {
  const auto serial = run<serial_backend, Kernel>(size);
  ASSERT_EQ(serial.size(), 2u);
  const std::uint64_t expected = serial.at("regular").checksum;
  EXPECT_EQ(serial.at("irregular").checksum, expected);
  size_asked longer = size;
  longer.iterations += 2;
  EXPECT_NE((run<serial_backend, Kernel>(longer).at("regular").checksum), expected) << "iterations change it";
  for (const unsigned workers : {1u, 2u, 3u, 4u, 8u}) {
    for (const auto& [tree, m] : run<heddle_backend, Kernel>(size, workers)) EXPECT_EQ(m.checksum, expected) << tree;
  }
  for (const char* policy : {"adws", "ml-adws", "sb", "constrained_ws", "slaw", "hws", "work_sharing"}) {
    for (const auto& [tree, m] : run<heddle_backend, Kernel>(size, 4, policy))
      EXPECT_EQ(m.checksum, expected) << policy << " " << tree;
  }
}
TEST(rows, heat_is_the_same_everywhere) { expect_same<heat>({101, 3, 40, 5}); }
TEST(rows, stencil9_is_the_same_everywhere) { expect_same<stencil9>({101, 3, 40, 5}); }
TEST(rows, stencil6_is_the_same_everywhere) { expect_same<stencil6>({37, 3, 12, 2}); }
TEST(rows, stencil25_is_the_same_everywhere) { expect_same<stencil25>({37, 3, 12, 2}); }
TEST(rows, sor_is_the_same_everywhere) { expect_same<sor>({101, 3, 40, 5}); }
TEST(rows, ge_is_the_same_everywhere) { expect_same<ge>({70, 40, 0, 4}); }

TEST(rows, refuses_what_a_kernel_has_not) {
  const auto refusal = [](auto&& run) -> std::string {
    try {
      run();
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal([] { run<serial_backend, heat>({20, 1, 20, 4}, 1, "", "nope"); }),
            "--variant 'nope': it has regular, irregular");
  EXPECT_EQ(refusal([] { run<serial_backend, heat>({20, 1, 20, 4}, 1, "", "irregular"); }), "accepted");
  EXPECT_EQ(captured.size(), 1u);
  EXPECT_EQ(refusal([] { run<serial_backend, ge>({20, 1, 20, 4}); }), "--columns: it takes none") << "it is square";
  EXPECT_NE(refusal([] { run<serial_backend, heat>({20, 1, 1 << 25, 4}); }).find("--columns 33554432"),
            std::string::npos);
}

}  // namespace
}  // namespace rows_test
}  // namespace heddle::bench
