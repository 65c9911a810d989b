// The components of AATS: the allocation of classes (Algorithm 8, Theorem 5.1), groups of cores, the history of a class
// (Eq. 5.3 to 5.5).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "policy/asymmetric/core_groups.hpp"
#include "policy/asymmetric/range_allocation.hpp"
#include "policy/asymmetric/task_classes.hpp"

namespace aats_parts_test {
namespace {

using namespace heddle::policy;

// --- Algorithm 8 ---

struct table {
  std::vector<std::vector<double>> time;  // by class and group
  std::vector<unsigned> cores;            // by group
};

// Algorithm 8 as it stands: all cuts in lexicographical order, the last of equal ones is kept.
double by_trying_all(const table& t, std::vector<unsigned>& ends) {
  const auto classes = static_cast<unsigned>(t.time.size()), groups = static_cast<unsigned>(t.cores.size());
  double least = std::numeric_limits<double>::infinity();
  std::vector<unsigned> cuts(groups);
  const auto try_from = [&](auto&& self, unsigned g, unsigned from, double longest) -> void {
    const bool is_last = g + 1 == groups;
    for (unsigned to = is_last ? classes : from + 1; to <= classes; ++to) {
      double span = 0;
      for (unsigned c = from; c < to; ++c) span += t.time[c][g];
      span /= t.cores[g];
      if (from == to) return;
      if (span > least) continue;
      cuts[g] = to;
      if (!is_last) {
        self(self, g + 1, to, std::max(longest, span));
      } else {
        least = std::max(longest, span);
        ends = cuts;
      }
    }
  };
  try_from(try_from, 0, 0, 0);
  return least;
}

table random_table(std::mt19937& random, unsigned classes, unsigned groups) {
  table t;
  std::vector<unsigned> slower(groups, 1);
  for (unsigned g = 0; g < groups; ++g) {
    t.cores.push_back(1u << random() % 3);  // so that quotients are exact
    slower[g] = g == 0 ? 1 : slower[g - 1] + random() % 3;
  }
  for (unsigned c = 0; c < classes; ++c) t.time.push_back({static_cast<double>(1 + random() % 12)});
  std::sort(t.time.begin(), t.time.end(), std::greater<>());
  for (auto& row : t.time) {
    for (unsigned g = 1; g < groups; ++g) row.push_back(row[0] * slower[g]);
  }
  return t;
}

range_allocation found(const table& t) {
  range_allocation ranges(static_cast<unsigned>(t.time.size()), static_cast<unsigned>(t.cores.size()));
  ranges.find(static_cast<unsigned>(t.time.size()), t.cores, [&](unsigned c, unsigned g) { return t.time[c][g]; });
  return ranges;
}

TEST(allocation, is_that_of_trying_all) {
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const unsigned groups = 1 + random() % 4, classes = groups + random() % 8;
    const table t = random_table(random, classes, groups);
    std::vector<unsigned> ends;
    const double least = by_trying_all(t, ends);
    const range_allocation ranges = found(t);
    ASSERT_EQ(ranges.makespan(), least) << "case " << i;
    for (unsigned g = 0; g < groups; ++g) ASSERT_EQ(ranges.end_of(g), ends[g]) << "case " << i << ", group " << g;
  }
}

// Theorem 5.1: if ranges exist whose sums are to each other as the numbers of cores are, these are found.
TEST(allocation, balances_exactly_where_that_can_be_had) {
  std::mt19937 random(2);
  for (int i = 0; i < 1000; ++i) {
    const unsigned groups = 2 + random() % 3;
    table t;
    double length = 1 << 20;
    for (unsigned g = 0; g < groups; ++g) {
      t.cores.push_back(1 + random() % 4);
      const unsigned classes = 1u << random() % 3;  // each takes cores / classes of the makespan on this group
      for (unsigned c = 0; c < classes; ++c) {
        std::vector<double> row;
        for (unsigned other = 0; other < groups; ++other)
          row.push_back(1024.0 * t.cores[g] / classes * (other < g ? 0.5 : other == g ? 1 : 4));
        t.time.push_back(row);
      }
      length = 1024;
    }
    EXPECT_LE(found(t).makespan(), length);
  }
}

TEST(allocation, of_fewer_classes_than_groups_is_that_of_the_fastest_groups) {
  table t{.time = {{4, 8, 16}, {2, 4, 8}}, .cores = {1, 1, 1}};
  const range_allocation ranges = found(t);
  EXPECT_EQ(ranges.group_of(0), 0u);
  EXPECT_EQ(ranges.group_of(1), 1u);
  EXPECT_EQ(ranges.makespan(), 4);
}

TEST(allocation, of_many_classes_is_found_too) {
  std::mt19937 random(3);
  const table t = random_table(random, 300, 6);
  const range_allocation ranges = found(t);
  double longest = 0;
  for (unsigned g = 0, from = 0; g < 6; from = ranges.end_of(g++)) {
    double span = 0;
    for (unsigned c = from; c < ranges.end_of(g); ++c) span += t.time[c][g];
    ASSERT_GT(ranges.end_of(g), from);
    longest = std::max(longest, span / t.cores[g]);
  }
  EXPECT_EQ(ranges.end_of(5), 300u);
  EXPECT_DOUBLE_EQ(longest, ranges.makespan());
}

// --- groups of cores ---

core_groups divided(const std::vector<double>& speeds) {
  core_groups groups(static_cast<unsigned>(speeds.size()));
  groups.divide(speeds, 0.125);
  return groups;
}

TEST(groups_of_cores, are_of_about_equal_speed_the_fastest_first) {
  const core_groups groups = divided({0.5, 1, 0.95, 0.48, 0.3});
  ASSERT_EQ(groups.count(), 3u);
  EXPECT_EQ(groups.group_of(1), 0u);
  EXPECT_EQ(groups.group_of(2), 0u);
  EXPECT_EQ(groups.group_of(0), 1u);
  EXPECT_EQ(groups.group_of(3), 1u);
  EXPECT_EQ(groups.group_of(4), 2u);
  EXPECT_EQ(groups.cores()[0], 2u);
  EXPECT_EQ(groups.cores()[2], 1u);
}

TEST(groups_of_cores, do_not_count_workers_without_a_processor) {
  const core_groups groups = divided({1, 0, 0.5, 0});
  ASSERT_EQ(groups.count(), 2u);
  EXPECT_EQ(groups.group_of(1), 1u);
  EXPECT_EQ(groups.cores()[1], 1u);
  EXPECT_EQ(divided({0, 0}).count(), 1u);
}

TEST(groups_of_cores, are_at_most_eight) {
  std::vector<double> speeds;
  for (int i = 0; i < 12; ++i) speeds.push_back(1.0 / (1 << i));
  const core_groups groups = divided(speeds);
  EXPECT_EQ(groups.count(), core_groups::most);
  EXPECT_EQ(groups.cores()[7], 5u);
}

// --- what is known of a class ---

TEST(history, is_the_mean_by_group) {
  const core_groups groups = divided({1, 0.5});
  class_history h;
  EXPECT_EQ(h.time(0, groups), 0);
  h.add(0, 100, 0);
  h.add(0, 300, 0);
  EXPECT_EQ(h.time(0, groups), 200);
  EXPECT_EQ(h.time(1, groups), 400) << "by the speeds, where none has ended";
  h.add(1, 500, 0);
  EXPECT_EQ(h.time(1, groups), 500);
  EXPECT_EQ(h.ended(), 3u);
}

// Eq. 5.4: t_1 x rate / rate of the task, whatever its own time was.
TEST(history, takes_the_time_on_slow_cores_from_rates) {
  const core_groups groups = divided({1, 0.5});
  class_history h;
  h.add(0, 100, 8);
  h.add(0, 100, 12);
  h.add(1, 987'654, 5);
  EXPECT_EQ(h.time(1, groups), 200);
}

// A core at half the frequency has the same instructions per cycle, so the literal form takes both for equally fast.
TEST(history, by_instructions_per_cycle_does_not_see_a_lower_frequency) {
  const core_groups groups = divided({1, 0.5});
  constexpr double instructions = 1e6, fast = 1000, slow = 2000;
  class_history per_cycle, per_second;
  per_cycle.add(0, fast, instructions / (fast * 1.0));
  per_cycle.add(1, slow, instructions / (slow * 0.5));
  per_second.add(0, fast, instructions / fast);
  per_second.add(1, slow, instructions / slow);
  EXPECT_EQ(per_cycle.time(1, groups), fast);
  EXPECT_EQ(per_second.time(1, groups), slow);
}

TEST(history, keeps_what_is_known_of_groups_that_remain) {
  class_history h;
  h.add(0, 100, 0);
  h.add(1, 200, 0);
  h.regroup(std::vector<unsigned>{0, core_groups::most, 1});
  const core_groups groups = divided({1, 0.7, 0.5});
  EXPECT_EQ(h.time(0, groups), 100);
  EXPECT_FALSE(h.is_known(1));
  EXPECT_EQ(h.time(2, groups), 200);
}

}  // namespace
}  // namespace aats_parts_test
