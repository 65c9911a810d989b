// Intervals of order statistics, and what a comparison of policies decides by them.
#include "cli/interval.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/sim/comparison.hpp"

namespace heddle::cli {
namespace interval_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(interval, of_five_figures_are_the_extremes) {
  const interval i = interval_of({3, 1, 2, 5, 4});
  EXPECT_DOUBLE_EQ(i.median, 3);
  EXPECT_DOUBLE_EQ(i.low, 1);
  EXPECT_DOUBLE_EQ(i.high, 5);
  EXPECT_DOUBLE_EQ(i.coverage, 1 - 2.0 / 32);
  EXPECT_TRUE(i.above(0.99));
  EXPECT_FALSE(i.above(1));
  EXPECT_TRUE(i.below(5.01));
}

TEST(interval, fewer_than_five_decide_nothing) {
  const interval i = interval_of({3, 1, 2, 4});
  EXPECT_DOUBLE_EQ(i.median, 2.5);
  EXPECT_FALSE(i.known());
  EXPECT_FALSE(i.above(0));
  EXPECT_FALSE(i.below(9));
  EXPECT_FALSE(interval_of({7}).known());
}

TEST(interval, more_figures_leave_out_extremes) {
  std::vector<double> eleven;
  for (int i = 1; i <= 11; ++i) eleven.push_back(i);
  const interval i = interval_of(eleven);  // 1 - 2 (1 + 11) / 2048 with the second ones, 0.935 with the third
  EXPECT_DOUBLE_EQ(i.low, 2);
  EXPECT_DOUBLE_EQ(i.high, 10);
  EXPECT_DOUBLE_EQ(i.coverage, 1 - 2 * 12.0 / 2048);
  EXPECT_DOUBLE_EQ(interval_of({1, 2, 3, 4, 5, 6, 7, 8}).low, 1) << "0.930 with the second ones";
  EXPECT_DOUBLE_EQ(interval_of({1, 2, 3, 4, 5, 6, 7, 8, 9}).low, 2) << "0.961 with the second ones";
}

// Of a skewed distribution, too: the squares of uniform numbers have their median at a quarter.
TEST(interval, holds_the_median_as_often_as_it_says) {
  std::uint64_t state = 1;
  const auto uniform = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  for (const std::size_t n : {5u, 9u, 15u}) {
    int held = 0;
    constexpr int times = 4000;
    double coverage = 0;
    for (int t = 0; t < times; ++t) {
      std::vector<double> figures;
      for (std::size_t i = 0; i < n; ++i) {
        const double u = uniform();
        figures.push_back(u * u);
      }
      const interval i = interval_of(figures);
      coverage = i.coverage;
      held += i.low <= 0.25 && 0.25 <= i.high ? 1 : 0;
    }
    EXPECT_GE(coverage, least_coverage);
    EXPECT_NEAR(held / static_cast<double>(times), coverage, 0.015) << n;  // 4 standard deviations
  }
}

json run_of(const char* policy, unsigned seed, double time) {
  return {{"policy", policy}, {"seed", seed}, {"virtual_seconds", time}};
}

TEST(comparison, pairs_runs_by_their_seeds) {
  std::vector<json> rows;
  // Seeds differ by more than the policies: only pairs tell them apart.
  const double seeds[] = {1, 4, 2, 8, 3};
  for (unsigned s = 0; s < 5; ++s) {
    rows.push_back(run_of("base", s, seeds[s]));
    rows.push_back(run_of("fast", s, seeds[s] / 1.1));
    rows.push_back(run_of("slow", s, seeds[s] * 1.1));
    rows.push_back(run_of("same", s, seeds[s] * (s % 2 == 0 ? 1.01 : 0.99)));
  }
  const std::vector<compared> all = compare(rows);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_NEAR(all[1].faster.median, 1.1, 1e-12);
  EXPECT_STREQ(decision(all[1]), "faster");
  EXPECT_STREQ(decision(all[2]), "slower");
  EXPECT_STREQ(decision(all[3]), "undecided");
  EXPECT_DOUBLE_EQ(all[0].time.median, 3);
  const std::string text = comparison_table(rows);
  EXPECT_THAT(text, HasSubstr("times faster than base"));
  EXPECT_THAT(text, HasSubstr("0.990 to 1.010  undecided"));
  EXPECT_THAT(text, HasSubstr("93.8 %"));
  EXPECT_EQ(comparison_table({run_of("base", 1, 1)}), "");
}

TEST(comparison, adds_up_the_processes_of_a_run_and_shows_the_middle_one) {
  std::vector<json> rows;
  for (const double t : {5.0, 1.0, 3.0}) {
    rows.push_back(run_of("a", static_cast<unsigned>(t), t));
    rows.push_back(run_of("a", static_cast<unsigned>(t), t));
  }
  EXPECT_DOUBLE_EQ(compare(rows)[0].time.median, 6);
  const std::vector<json> middle = middle_runs(rows);
  ASSERT_EQ(middle.size(), 2u);
  EXPECT_EQ(middle[0].at("seed"), 3);
}

}  // namespace
}  // namespace interval_test
}  // namespace heddle::cli
