// Where a site believes that the work of its loops lies: heddle/detail/loop_profile.hpp, [site:4] of src/loop/sites.md.
#include <heddle/detail/loop_profile.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace profile_test {
namespace {

using heddle::detail::loop_grid;
using heddle::detail::loop_profile;

using cost_of = std::function<std::uint64_t(std::size_t)>;  // cycles of iteration i

// A loop that is measured in batches of `batch` iterations. Returns what learn says.
bool measured_loop(loop_grid& grid, std::size_t n, std::size_t batch, const cost_of& cost) {
  loop_profile p;
  p.begin(grid, n);
  for (std::size_t low = 0; low < n; low += batch) {
    const std::size_t high = std::min(low + batch, n);
    std::uint64_t cycles = 0;
    for (std::size_t i = low; i < high; ++i) cycles += cost(i);
    p.add(low, high, cycles);
  }
  return grid.learn(p);
}

std::size_t middle_of(const loop_grid& grid, std::size_t n, std::size_t low, std::size_t high) {
  loop_profile p;
  p.begin(grid, n);
  return p.middle(low, high);
}

// The longer of the two parts of [0, n), over half of the whole.
double imbalance(const loop_grid& grid, std::size_t n, const cost_of& cost) {
  const std::size_t middle = middle_of(grid, n, 0, n);
  double left = 0, all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    all += static_cast<double>(cost(i));
    if (i < middle) left += static_cast<double>(cost(i));
  }
  return 2 * std::max(left, all - left) / all;
}

TEST(loop_profile, an_even_loop_is_halved_in_its_middle) {
  loop_grid grid;
  const cost_of even = [](std::size_t) { return 100; };
  for (int k = 0; k < 4; ++k) EXPECT_FALSE(measured_loop(grid, 1000, 50, even));
  EXPECT_TRUE(grid.is_even());
  EXPECT_EQ(middle_of(grid, 100, 0, 100), 50u);
  EXPECT_EQ(middle_of(grid, 2, 0, 2), 1u);
}

TEST(loop_profile, one_odd_loop_is_not_believed_and_two_are) {
  loop_grid grid;
  const cost_of even = [](std::size_t) { return 100; };
  const cost_of odd = [](std::size_t i) { return i == 700 ? 1'000'000 : 100; };
  EXPECT_TRUE(measured_loop(grid, 1000, 50, odd)) << "the next loop should be measured, too";
  EXPECT_TRUE(grid.is_even());
  EXPECT_FALSE(measured_loop(grid, 1000, 50, even));
  measured_loop(grid, 1000, 50, odd);
  EXPECT_TRUE(grid.is_even()) << "the two odd loops did not follow one another";
  measured_loop(grid, 1000, 50, odd);
  EXPECT_FALSE(grid.is_even());
}

// Interruptions in one loop of ten, at places of their own, as a kernel makes them: the few that two loops in a row
// have at one place are believed for a loop or two.
TEST(loop_profile, interruptions_come_anywhere) {
  const cost_of even = [](std::size_t) { return 100; };
  int misled = 0, loops = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    loop_grid grid;
    for (int k = 0; k < 100; ++k, ++loops) {
      const std::size_t place = random() % 10'000;  // from 1,000 on: none
      measured_loop(grid, 1000, 50, [&](std::size_t i) { return i == place ? 400'000 : 100; });
      if (imbalance(grid, 1000, even) > 1.25) ++misled;
    }
  }
  EXPECT_LT(misled, loops / 50);
}

struct shape {
  std::string name;
  std::size_t n;
  cost_of cost;
};

std::vector<shape> shapes() {
  return {
      {"triangle", 300, [](std::size_t i) { return 10 * i; }},
      {"falling triangle", 3000, [](std::size_t i) { return 10 * (3000 - i); }},
      {"the last 64th", 1000, [](std::size_t i) { return i >= 985 ? 30'000 : 10; }},
      {"the first 64th", 1000, [](std::size_t i) { return i < 15 ? 30'000 : 10; }},
      {"cubes", 5000, [](std::size_t i) { return i * i * i / 1'000'000 + 1; }},
      {"two peaks", 4096, [](std::size_t i) { return i / 64 == 3 || i / 64 == 50 ? 5'000 : 5; }},
  };
}

TEST(loop_profile, halves_of_equal_work_within_a_tenth) {
  for (const shape& s : shapes()) {
    loop_grid grid;
    for (int k = 0; k < 12; ++k) measured_loop(grid, s.n, std::max<std::size_t>(s.n / 256, 1), s.cost);
    EXPECT_LT(imbalance(grid, s.n, s.cost), 1.1) << s.name;
  }
}

// Alone, or with a few of the others where they are many.
TEST(loop_profile, an_iteration_as_long_as_all_others_is_nearly_alone) {
  for (const std::size_t n : {100, 1000, 50'000}) {
    for (const std::size_t place : {n - 1, std::size_t{0}}) {
      const cost_of cost = [n, place](std::size_t i) { return i == place ? 100 * n : 100; };
      loop_grid grid;
      for (int k = 0; k < 16; ++k) measured_loop(grid, n, 1, cost);
      EXPECT_LT(imbalance(grid, n, cost), 1.03) << "n = " << n << ", iteration " << place;
    }
  }
}

TEST(loop_profile, a_site_forgets_a_shape_that_its_loops_have_no_more) {
  loop_grid grid;
  for (int k = 0; k < 8; ++k) measured_loop(grid, 300, 5, [](std::size_t i) { return 10 * i; });
  ASSERT_FALSE(grid.is_even());
  const cost_of even = [](std::size_t) { return 100; };
  for (int k = 0; k < 8; ++k) measured_loop(grid, 300, 5, even);
  EXPECT_LT(imbalance(grid, 300, even), 1.11);
}

// Neither part is empty, and halving ends: no range is divided more often than its length and the cells explain.
TEST(loop_profile, every_range_is_divided_and_not_too_deep) {
  for (const shape& s : shapes()) {
    loop_grid grid;
    for (int k = 0; k < 12; ++k) measured_loop(grid, s.n, 4, s.cost);
    for (const std::size_t n : {std::size_t{2}, std::size_t{3}, s.n, 7 * s.n}) {
      loop_profile p;
      p.begin(grid, n);
      const std::function<int(std::size_t, std::size_t)> depth = [&](std::size_t low, std::size_t high) {
        if (high - low < 2) return 0;
        const std::size_t middle = p.middle(low, high);
        EXPECT_GT(middle, low);
        EXPECT_LT(middle, high);
        return 1 + std::max(depth(low, middle), depth(middle, high));
      };
      EXPECT_LE(depth(0, n), 8 + 2 * static_cast<int>(std::log2(n))) << s.name << ", n = " << n;
    }
  }
}

}  // namespace
}  // namespace profile_test
