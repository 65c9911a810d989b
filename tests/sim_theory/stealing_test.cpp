// How often random stealing steals, and how much it has alive at once (Blumofe, Leiserson, JACM 46(5), 1999; the number
// of steals: Theorem 13; space S_P <= S_1 P: Theorem 2, busy leaves).
//
// The theorems count in steps of one instruction, in which an attempt to steal takes one step. Here a node's
// computation is of random length and a search takes turns of 14 ns, so successful steals are held against the steps of
// the longest path: T_inf if each computation and each spawn of a group took one step.
// Space: activations, that is nodes begun and not ended, each of
// which has its frame on some stack; S_1 is the depth of the tree.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/sim_theory/random_trees.hpp"

namespace heddle::sim {
namespace stealing_test {
namespace {

// The largest ratio of 900 runs was 0.53 (docs/investigations/simulator.md).
constexpr double steals_a_worker_and_step = 1;

TEST(stealing, steals_are_in_the_order_of_workers_times_span) {
  for (const std::string policy : {"random_ws", "hierarchical_ws"}) {
    for (const shape s : all_shapes) {
      double worst = 0, most_of_work = 0;
      for (std::uint64_t seed = 0; seed < 15; ++seed) {
        const random_tree t(s, seed);
        for (const unsigned p : {2u, 4u, 8u, 16u, 32u, 64u}) {
          const tree_run r = run_tree(t, p, policy, seed);
          const double ratio = static_cast<double>(r.steals) / (static_cast<double>(p) * t.span_steps());
          worst = std::max(worst, ratio);
          most_of_work = std::max(most_of_work, static_cast<double>(r.steals) / (t.root() + 1));
          EXPECT_LE(ratio, steals_a_worker_and_step)
              << name(s) << " " << seed << ", " << p << " workers, " << policy << ": " << r.steals << " steals";
        }
      }
      std::printf("%-16s %-9s most steals / (P x steps of the longest path): %.3f; / nodes: %.3f\n", policy.c_str(),
                  name(s), worst, most_of_work);
    }
  }
}

TEST(stealing, space_is_at_most_the_serial_space_times_workers) {
  for (const shape s : all_shapes) {
    double worst = 0;
    for (std::uint64_t seed = 0; seed < 15; ++seed) {
      const random_tree t(s, seed);
      EXPECT_EQ(run_tree(t, 1, "random_ws", seed).most_at_once, t.depth()) << name(s) << " " << seed;
      for (const unsigned p : {2u, 3u, 4u, 8u, 16u, 32u, 64u}) {
        const tree_run r = run_tree(t, p, "random_ws", seed);
        EXPECT_LE(r.most_at_once, t.depth() * p) << name(s) << " " << seed << ", " << p << " workers";
        worst = std::max(worst, static_cast<double>(r.most_at_once) / (t.depth() * p));
      }
    }
    std::printf("%-9s most activations at once / (S_1 P): %.3f\n", name(s), worst);
  }
}

TEST(stealing, runs_repeat_exactly) {
  for (const shape s : all_shapes) {
    const random_tree t(s, 3);
    const tree_run a = run_tree(t, 16, "random_ws", 7), b = run_tree(t, 16, "random_ws", 7);
    EXPECT_EQ(a.time, b.time) << name(s);
    EXPECT_EQ(a.steals, b.steals);
    EXPECT_EQ(a.failed_steals, b.failed_steals);
    EXPECT_EQ(a.most_at_once, b.most_at_once);
  }
}

}  // namespace
}  // namespace stealing_test
}  // namespace heddle::sim
