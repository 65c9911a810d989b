// Windows chosen from what a program tells of its accesses. This program includes heddle/cost.hpp: it does tell.
#include <heddle/cost.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "windows/caches.hpp"
#include "windows/window_sample.hpp"

namespace heddle {
namespace window_sample_test {
namespace {

namespace by = heddle::schedule;
using detail::loop_cache;
using detail::window_choice;
using detail::window_sample;

constexpr std::uint64_t line = 64, row = 8, rows = 100, plane = row * rows;  // lines
constexpr std::uint64_t cache = 3 * plane;
constexpr std::size_t planes = 24, iterations = rows * planes;

// A row of a stencil of two planes, at addresses that are only told. From one plane to the next two planes' rows are
// accessed: what a cache of three has to spare is the rows of half a plane, twice.
void tell_row(std::size_t i) {
  const auto at = [](std::size_t k) { return reinterpret_cast<const void*>((1 + k) * row * line); };
  cost::read(at(i), row * line);
  cost::rows({{at(i + rows), line, line, 1}}, row);
}
constexpr double expected = rows / 2.0;

TEST(window_sample, tells_the_window_of_what_it_has_heard) {
  runtime rt({.workers = 1});
  rt.run([] {
    window_sample sample(cache, line);
    ASSERT_TRUE(sample.is_on());
    EXPECT_FALSE(window_sample(cache, line).is_on()) << "one at a time";
    for (std::size_t i = 0; i < iterations; ++i) {
      if (i % 3 == 0) tell_row(7 * iterations + i);  // nobody listens
      const bool hears = sample.enter(i);
      tell_row(i);
      if (hears) sample.leave(i + 1);
      EXPECT_FALSE(sample.enter(i)) << "it has been heard";
    }
    EXPECT_NEAR(static_cast<double>(sample.window(4)), expected, 3);
    EXPECT_EQ(detail::cost_model(), nullptr);
  });
}

TEST(window_sample, goes_on_behind_an_iteration_only_in_order) {
  runtime rt({.workers = 1});
  rt.run([] {
    window_sample sample(cache, line);
    EXPECT_FALSE(sample.enter(5));
    EXPECT_TRUE(sample.enter(0));
    sample.leave(5);
    EXPECT_TRUE(sample.enter(5));
    sample.leave(6);
    EXPECT_EQ(sample.window(4), 0u) << "nothing was told";
  });
}

// A program's own model, as the simulator is one, hears all that it did before.
struct counting_model {
  static inline std::atomic<double> cycles_told{0};
  static inline std::atomic<std::uint64_t> bytes_told{0}, rows_told{0};
  static void cycles(double n) { cycles_told = cycles_told + n; }
  static void access(const void*, std::size_t bytes, int) { bytes_told += bytes; }
  static void rows(const heddle_cost_rows*, std::size_t, std::size_t count) { rows_told += count; }
  static constexpr heddle_cost_model model{cycles, access, 1, nullptr, nullptr, rows};
};

TEST(window_sample, hands_on_what_it_hears) {
  runtime rt({.workers = 1});
  rt.run([] {
    heddle_cost = &counting_model::model;
    {
      window_sample sample(cache, line);
      ASSERT_TRUE(sample.is_on());
      EXPECT_TRUE(cost::only());
      EXPECT_TRUE(sample.enter(0));
      tell_row(0);
      cost::cycles(12);
      sample.leave(1);
      tell_row(1);
    }
    EXPECT_EQ(heddle_cost, &counting_model::model);
    heddle_cost = nullptr;
  });
  EXPECT_EQ(counting_model::cycles_told, 12);
  EXPECT_EQ(counting_model::bytes_told, 2 * row * line);
  EXPECT_EQ(counting_model::rows_told, 2 * row);
}

// A quarter of a short loop tells nothing, so the whole loop is sampled. The sample depends on which workers take parts
// of the first loop. tests/sim/windows_test.cpp checks that the window follows from it.
TEST(window_sample, automatic_has_every_iteration_once) {
  runtime rt({.workers = 3, .machine = "synthetic:l3:1(size=153600) l2:4(size=4096) core:1 pu:1"});
  for (const std::size_t n : {1, 2, 3, 4, 5, 50, 500, 6400}) {
    for (int loop = 0; loop < 3; ++loop) {
      std::vector<std::atomic<int>> ran(n);
      rt.run([&] {
        parallel_for(std::size_t{0}, n,
                     [&](std::size_t i) {
                       tell_row(i);
                       ++ran[i];
                     },
                     {.schedule = by::window_automatic});
      });
      EXPECT_TRUE(std::all_of(ran.begin(), ran.end(), [](const auto& times) { return times == 1; })) << n;
    }
  }
}

TEST(window_sample, ends_with_the_loop_that_throws) {
  runtime rt({.workers = 2, .machine = "synthetic:l3:1(size=153600) l2:4(size=4096) core:1 pu:1"});
  const auto loop = [] {
    parallel_for(std::size_t{0}, iterations,
                 [](std::size_t i) {
                   tell_row(i);
                   if (i == 100) throw std::runtime_error("a hundred");
                 },
                 {.schedule = by::window_automatic});
  };
  for (int round = 0; round < 3; ++round) EXPECT_THROW(rt.run(loop), std::runtime_error);
  EXPECT_EQ(detail::cost_model(), nullptr);
}

TEST(window_choice, listens_again_after_64_loops_and_when_something_has_changed) {
  const std::vector<loop_cache> shared{{0, 4, 1 << 23, 64}};
  window_choice site;
  EXPECT_TRUE(site.choose(1000, 0, shared).sampled);
  EXPECT_TRUE(site.choose(1000, 0, shared).sampled) << "nothing has been told of the first one";
  site.sampled(1000, 0, 77);
  for (int loop = 0; loop < 63; ++loop) {
    const window_choice::plan plan = site.choose(1000 + loop, 0, shared);
    EXPECT_FALSE(plan.sampled);
    EXPECT_EQ(plan.length, 77u);
    site.ended(1000, 5000 + 100 * static_cast<unsigned>(loop % 5));
  }
  EXPECT_TRUE(site.choose(1000, 0, shared).sampled);
  site.sampled(1000, 0, 78);
  EXPECT_FALSE(site.choose(1000, 0, shared).sampled);
  EXPECT_TRUE(site.choose(2000, 0, shared).sampled) << "another length";
  EXPECT_TRUE(site.choose(1000, 640, shared).sampled) << "other iterations";
  site.ended(1000, 5000);
  site.ended(1000, 9000);
  EXPECT_FALSE(site.choose(1000, 0, shared).sampled) << "that may have been the machine";
  site.ended(1000, 9000);
  EXPECT_TRUE(site.choose(1000, 0, shared).sampled) << "iterations have become longer";
  EXPECT_FALSE(site.choose(1000, 0, {{0, 4, 0, 0}}).sampled) << "no cache is shared";
}

}  // namespace
}  // namespace window_sample_test
}  // namespace heddle
