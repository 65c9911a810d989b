// The heuristic of NUMALB as a function of numbers: its equations, and brute force on small graphs.
#include "policy/numa/numa_balance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace numa_balance_test {
namespace {

using heddle::policy::numa_balance;
using heddle::policy::numa_factors;

TEST(numa_balance, factors_are_latencies_over_the_own_one) {
  const numa_factors f({100, 150, 0, 80}, 2);
  EXPECT_DOUBLE_EQ(f(0, 0), 1);
  EXPECT_DOUBLE_EQ(f(0, 1), 1.5);
  EXPECT_DOUBLE_EQ(f(1, 0), 1) << "not known";
  EXPECT_DOUBLE_EQ(f(1, 1), 1);
}

// Equation 4.4 by hand: two cores on node 0, one on node 1.
TEST(numa_balance, costs_are_load_and_messages) {
  numa_balance b(numa_factors({100, 150, 200, 100}, 2), {0, 0, 1}, 10);
  b.reserve(3, 4);
  b.clear(3);
  b.set_load(0, 50);
  b.set_load(1, 40);
  b.set_load(2, 30);
  ASSERT_TRUE(b.add_messages(0, 2, 3));
  ASSERT_TRUE(b.add_messages(2, 0, 1));
  ASSERT_TRUE(b.add_messages(1, 2, 2));
  EXPECT_DOUBLE_EQ(b.cost(2, 0), 0) << "nobody has a core yet";
  b.assign(3);
  // 0 to core 0; 1, which knows nobody that has a core, to the next one that is empty
  EXPECT_EQ(b.core_of(0), 0u);
  EXPECT_EQ(b.core_of(1), 1u);
  EXPECT_EQ(b.core_of(2), 1u) << "40 - 10 * 6 on core 1, 50 - 60 on core 0, 10 * 6 * 1.5 on core 2";
  EXPECT_DOUBLE_EQ(b.load_of(1), 70);
  EXPECT_DOUBLE_EQ(b.cost(2, 2), 0 + 10 * (4 * 1.5 + 2 * 1.5));
  EXPECT_DOUBLE_EQ(b.cost(2, 0), 50 - 10 * 6);
}

TEST(numa_balance, partners_share_a_node_where_loads_allow_it) {
  numa_balance b(numa_factors({100, 200, 200, 100}, 2), {0, 0, 1, 1}, 1);
  b.reserve(8, 16);
  b.clear(8);
  for (unsigned t = 0; t < 8; ++t) b.set_load(t, 100);
  for (unsigned t = 0; t < 8; ++t) ASSERT_TRUE(b.add_messages(t, t ^ 1u, 5));
  b.assign(8);
  for (unsigned t = 0; t < 8; ++t) EXPECT_EQ(b.core_of(t) / 2, b.core_of(t ^ 1u) / 2) << t;
  for (unsigned core = 0; core < 4; ++core) EXPECT_DOUBLE_EQ(b.load_of(core), 200);
}

// Without messages it is list scheduling by longest time: Graham's bound of 4/3 - 1/(3m) holds against the best of all
// assignments.
TEST(numa_balance, without_messages_it_keeps_grahams_bound) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    constexpr unsigned cores = 3, tasks = 8;
    numa_balance b(numa_factors(), std::vector<unsigned>(cores, 0), 1);
    b.reserve(tasks, 1);
    b.clear(tasks);
    std::vector<double> loads(tasks);
    for (unsigned t = 0; t < tasks; ++t) b.set_load(t, loads[t] = 1 + random() % 50);
    b.assign(tasks);
    double made = 0, best = std::numeric_limits<double>::infinity();
    for (unsigned core = 0; core < cores; ++core) made = std::max(made, b.load_of(core));
    for (unsigned code = 0; code < 6561; ++code) {  // 3^8
      double sums[cores]{};
      unsigned rest = code;
      for (unsigned t = 0; t < tasks; ++t, rest /= cores) sums[rest % cores] += loads[t];
      best = std::min(best, *std::max_element(sums, sums + cores));
    }
    EXPECT_GE(made, best);
    EXPECT_LE(made, best * (4.0 / 3 - 1.0 / (3 * cores)) + 1e-9) << "round " << round;
  }
}

// The greedy order, step by step, with costs added up anew from all pairs.
TEST(numa_balance, each_step_takes_the_cheapest_core) {
  std::mt19937 random(11);
  const std::vector<unsigned> node_of = {0, 0, 1, 1, 2};
  const std::vector<double> latencies = {100, 140, 220, 140, 100, 140, 220, 140, 110};
  const numa_factors factors(latencies, 3);
  for (int round = 0; round < 30; ++round) {
    constexpr unsigned tasks = 12;
    numa_balance b(factors, node_of, 2);
    b.reserve(tasks, 66);
    b.clear(tasks);
    std::vector<double> loads(tasks);
    std::map<std::pair<unsigned, unsigned>, double> sent;
    for (unsigned t = 0; t < tasks; ++t) b.set_load(t, loads[t] = random() % 8);
    for (int i = 0; i < 30; ++i) {
      const unsigned from = random() % tasks, to = random() % tasks;
      const double messages = 1 + random() % 4;
      ASSERT_TRUE(b.add_messages(from, to, messages));
      if (from != to) sent[std::minmax(from, to)] += messages;
    }
    b.assign(tasks);
    std::vector<unsigned> order(tasks), core(tasks, ~0u);
    for (unsigned t = 0; t < tasks; ++t) order[t] = t;
    std::stable_sort(order.begin(), order.end(), [&](unsigned x, unsigned y) { return loads[x] > loads[y]; });
    std::vector<double> filled(node_of.size(), 0);
    for (const unsigned t : order) {
      std::vector<double> costs;
      for (unsigned p = 0; p < node_of.size(); ++p) {
        double c = filled[p];
        for (const auto& [pair, messages] : sent) {
          const unsigned other = pair.first == t ? pair.second : pair.second == t ? pair.first : ~0u;
          if (other == ~0u || core[other] == ~0u) continue;
          const unsigned there = node_of[core[other]];
          c += 2 * (there == node_of[p] ? -messages : messages * factors(there, node_of[p]));
        }
        costs.push_back(c);
      }
      EXPECT_LE(costs[b.core_of(t)], *std::min_element(costs.begin(), costs.end()) + 1e-9) << "task " << t;
      core[t] = b.core_of(t);
      filled[core[t]] += loads[t];
    }
  }
}

TEST(numa_balance, says_when_there_is_no_room) {
  numa_balance b(numa_factors(), {0, 0}, 1);
  b.reserve(4, 2);
  b.clear(4);
  EXPECT_TRUE(b.add_messages(0, 1, 1));
  EXPECT_TRUE(b.add_messages(1, 1, 1)) << "to itself: nothing to remember";
  EXPECT_TRUE(b.add_messages(2, 3, 1));
  EXPECT_FALSE(b.add_messages(0, 3, 1));
  b.assign(4);
  EXPECT_NE(b.core_of(3), numa_balance::no_core);
}

}  // namespace
}  // namespace numa_balance_test
