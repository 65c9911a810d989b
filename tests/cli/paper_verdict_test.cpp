// Verdicts of `heddle paper`: by intervals, bands of two sides, other shrinks, and what was measured.
#include "cli/paper/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli::paper {
namespace paper_verdict_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

measure claimed(claim says, std::optional<double> number, double band = 1.25) {
  return {.name = "m",
          .of = time("p", "a"),
          .says = says,
          .words = "words",
          .number = number,
          .band = band,
          .why = "Because"};
}

// Five runs around a figure, by one per cent.
interval around(double figure) {
  return interval_of({figure * 0.99, figure * 0.995, figure, figure * 1.005, figure * 1.01});
}
judgement verdict_on(const measure& m, const interval& simulated) {
  return judge(m, {.simulated = simulated, .none = {}});
}
judgement verdict_on(const measure& m, double figure) { return verdict_on(m, around(figure)); }

TEST(paper_verdict, by_direction_and_size) {
  EXPECT_EQ(verdict_on(claimed(claim::above, 2.0), 2.4).verdict, "same size");
  EXPECT_EQ(verdict_on(claimed(claim::above, 2.0), 1.5).verdict, "same direction");
  EXPECT_EQ(verdict_on(claimed(claim::above, 2.0), 9.0).verdict, "same direction");
  EXPECT_EQ(verdict_on(claimed(claim::above, 2.0), 0.9).verdict, "not");
  EXPECT_EQ(verdict_on(claimed(claim::above, {}), 1.02).verdict, "same direction");
  EXPECT_EQ(verdict_on(claimed(claim::below, 0.63), 0.7).verdict, "same size");
  EXPECT_EQ(verdict_on(claimed(claim::below, {}), 1.2).verdict, "not");
  EXPECT_EQ(verdict_on(claimed(claim::about, 1.0, 1.1), 0.95).verdict, "same size");
  EXPECT_EQ(verdict_on(claimed(claim::about, 1.0, 1.1), 1.2).verdict, "not");
  const judgement none = judge(claimed(claim::above, 2.0), {.simulated = {}, .none = "no such kernel"});
  EXPECT_EQ(none.verdict, "not run");
  EXPECT_EQ(none.reason, "no such kernel");
}

TEST(paper_verdict, nothing_is_decided_by_an_interval_that_holds_the_pivot) {
  const judgement near = verdict_on(claimed(claim::above, {}), 1.005);
  EXPECT_EQ(near.verdict, "undecided");
  EXPECT_THAT(near.reason, HasSubstr("0.995 to 1.02 holds 1.00"));
  EXPECT_EQ(verdict_on(claimed(claim::above, {}), 0.995).verdict, "undecided");
  EXPECT_EQ(verdict_on(claimed(claim::about, 1.0, 1.1), 1.1).verdict, "undecided");
  EXPECT_EQ(verdict_on(claimed(claim::at_most, 1.3, 1.1), 1.43).verdict, "undecided");
  EXPECT_EQ(verdict_on(claimed(claim::above, 2.0), 2.5).verdict, "same direction") << "of that alone";
  const judgement one = verdict_on(claimed(claim::above, {}), interval_of({3.77}));
  EXPECT_EQ(one.verdict, "undecided");
  EXPECT_THAT(one.reason, HasSubstr("1 run tells no interval"));
  EXPECT_EQ(verdict_on(claimed(claim::above, {}), interval_of({3.7, 3.7, 3.7, 3.7})).verdict, "undecided");
  EXPECT_EQ(verdict_on(claimed(claim::about, 1.0, 1), interval_of({1, 1, 1, 1, 1})).verdict, "same size");
}

TEST(paper_verdict, a_bound_has_a_band_of_two_sides) {
  EXPECT_EQ(verdict_on(claimed(claim::at_most, 1.3, 1.1), 1.35).verdict, "same size");
  EXPECT_EQ(verdict_on(claimed(claim::at_most, 1.3, 1.1), 1.5).verdict, "not");
  EXPECT_EQ(verdict_on(claimed(claim::at_most, 1.3, 1.1), 0.9).verdict, "same direction") << "kept, but no size";
}

// Table 4.2: the paper tells +9.1 %.
TEST(paper_verdict, a_slow_down_that_is_a_speed_up_is_not_the_papers) {
  for (const experiment& e : experiments()) {
    for (const measure& m : e.measures) {
      if (e.id != "adws-tab-4.2" || m.name != "n = 40") continue;
      EXPECT_EQ(verdict_on(m, 0.98).verdict, "not");
    }
  }
}

TEST(paper_verdict, what_the_machine_file_puts_in_is_no_result) {
  measure m = claimed(claim::about, 2.8, 1.1);
  m.input = true;
  EXPECT_EQ(verdict_on(m, 2.8).verdict, "input");
  EXPECT_THAT(verdict_on(m, 2.8).reason, HasSubstr("same size"));
  EXPECT_THAT(verdict_on(m, 9.8).reason, HasSubstr("not: "));
  std::size_t inputs = 0;
  for (const experiment& e : experiments()) {
    for (const measure& each : e.measures) inputs += each.input ? 1 : 0;
  }
  EXPECT_EQ(inputs, 11u) << "table 3.1 on two machines, and one point of figure 3.4";
}

TEST(paper_verdict, another_shrink_may_take_it_back) {
  const measure above = claimed(claim::above, {});
  const judgement both = judge(above, {.simulated = around(1.42), .none = {}, .beside = around(1.2)});
  EXPECT_EQ(both.verdict, "same direction");
  const judgement other = judge(above, {.simulated = around(1.42), .none = {}, .beside = around(0.63)});
  EXPECT_EQ(other.verdict, "undecided");
  EXPECT_THAT(other.reason, HasSubstr("At another shrink 0.630 (0.624 to 0.636): it is the shrink that decides"));
  EXPECT_EQ(judge(above, {.simulated = around(1.42), .none = {}, .beside = around(1.0)}).verdict, "same direction")
      << "undecided there is no contradiction";
  EXPECT_EQ(judge(above, {.simulated = around(0.7), .none = {}, .beside = around(0.63)}).verdict, "not");
}

TEST(paper_verdict, tells_where_the_measured_figure_points) {
  const measure above = claimed(claim::above, {});
  const judgement other = judge(above, {.simulated = around(1.42), .none = {}, .beside = {}, .measured = around(0.9)});
  EXPECT_EQ(other.verdict, "same direction");
  EXPECT_EQ(other.measured, "other");
  EXPECT_THAT(other.reason, HasSubstr("Measured, it points the other way: 0.900 (0.891 to 0.909)"));
  const auto points = [&](const interval& measured) {
    return judge(above, {.simulated = {}, .none = "not run", .beside = {}, .measured = measured}).measured;
  };
  EXPECT_EQ(points(around(1.2)), "same");
  EXPECT_EQ(points(around(1.0)), "undecided");
  EXPECT_EQ(points(interval_of({0.97})), "other");
  EXPECT_EQ(
      judge(claimed(claim::about, 1.0), {.simulated = {}, .none = {}, .beside = {}, .measured = around(3)}).measured,
      "");
}

TEST(paper_verdict, tells_the_cause_only_where_there_is_a_difference) {
  EXPECT_THAT(verdict_on(claimed(claim::above, 2.0), 2.0).reason, Not(HasSubstr("Because")));
  EXPECT_THAT(verdict_on(claimed(claim::above, {}), 2.0).reason, Not(HasSubstr("Because")));
  EXPECT_THAT(verdict_on(claimed(claim::above, 2.0), 1.2).reason, HasSubstr("Because"));
  EXPECT_THAT(verdict_on(claimed(claim::above, 2.0), 0.5).reason, HasSubstr("Because"));
  measure aimed = claimed(claim::above, 2.0);
  aimed.aim = goal{1.5};
  EXPECT_THAT(verdict_on(aimed, 1.4).reason, HasSubstr("aim at least 1.50: missed"));
  aimed.aim = goal{1.5, false};
  EXPECT_THAT(verdict_on(aimed, 1.4).reason, HasSubstr("aim at most 1.50: met"));
}

TEST(paper_verdict, shows_three_digits) {
  EXPECT_EQ(shown(0), "0");
  EXPECT_EQ(shown(6), "6.00");
  EXPECT_EQ(shown(0.63), "0.630");
  EXPECT_EQ(shown(48.61), "48.6");
  EXPECT_EQ(shown(4085), "4085");
  EXPECT_EQ(shown(1.234e-5), "1.23e-05");
}

}  // namespace
}  // namespace paper_verdict_test
}  // namespace heddle::cli::paper
