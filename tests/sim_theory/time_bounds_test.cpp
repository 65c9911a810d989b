// Work, span and the greedy bound T_P <= T_1 / P + (1 - 1 / P) T_inf (Graham, SIAM J. Appl. Math. 17(2), 1969; Brent,
// JACM 21(2), 1974) on random programs, with operations of the scheduler that cost nothing.
//
// A worker finds work that exists in one search: the worker that falls asleep and the one that a publication wakes try
// every victim. So the schedule is greedy but for the search itself: eight turns of the waiting loop before a worker
// sleeps, and as many again after it was woken. `lag` grants that to each step of the longest path.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/sim_theory/random_trees.hpp"

namespace heddle::sim {
namespace time_bounds_test {
namespace {

constexpr picoseconds search = 2 * 8 * turn;
picoseconds greedy(const random_tree& t, unsigned workers) { return (t.work() + (workers - 1) * t.span()) / workers; }

constexpr unsigned worker_counts[] = {1, 2, 3, 4, 7, 8, 16, 32, 64};

struct excess {
  double worst{0};  // (T_P - T_1 / P) / T_inf
  std::string where;
  void see(const random_tree& t, const tree_run& r, unsigned workers, const std::string& what) {
    const double c =
        (static_cast<double>(r.time) - static_cast<double>(t.work()) / workers) / static_cast<double>(t.span());
    if (c > worst) {
      worst = c;
      where = what;
    }
  }
};

std::string described(shape s, std::uint64_t seed, unsigned workers, const std::string& policy) {
  return std::string(name(s)) + " " + std::to_string(seed) + ", " + std::to_string(workers) + " workers, " + policy;
}

TEST(time_bounds, one_worker_takes_exactly_the_work) {
  for (const shape s : all_shapes) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const random_tree t(s, seed);
      for (const char* policy : {"random_ws", "hierarchical_ws", "serial"}) {
        const tree_run r = run_tree(t, 1, policy);
        EXPECT_EQ(r.time, t.work()) << described(s, seed, 1, policy);
        EXPECT_EQ(r.steals, 0u);
      }
    }
  }
}

TEST(time_bounds, work_is_conserved_and_no_schedule_beats_work_or_span) {
  for (const shape s : all_shapes) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const random_tree t(s, seed);
      for (const unsigned p : worker_counts) {
        for (const char* policy : {"random_ws", "random_ws:spawn=parent", "hierarchical_ws", "work_sharing"}) {
          const tree_run r = run_tree(t, p, policy, seed);
          EXPECT_EQ(r.computed, t.work()) << described(s, seed, p, policy);
          EXPECT_GE(r.time, t.span()) << described(s, seed, p, policy);
          EXPECT_GE(r.time * p, t.work()) << described(s, seed, p, policy);
        }
      }
    }
  }
}

TEST(time_bounds, work_stealing_is_greedy_but_for_its_search) {
  for (const std::string policy : {"random_ws", "hierarchical_ws"}) {
    for (const shape s : all_shapes) {
      excess most;
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const random_tree t(s, seed);
        const picoseconds lag = search * t.span_steps();
        for (const unsigned p : worker_counts) {
          const tree_run r = run_tree(t, p, policy, seed);
          EXPECT_LE(r.time, greedy(t, p) + lag)
              << described(s, seed, p, policy) << ": T_1 " << t.work() << ", T_inf " << t.span();
          most.see(t, r, p, described(s, seed, p, policy));
        }
      }
      std::printf("%-16s %-9s largest (T_P - T_1 / P) / T_inf: %.4f, %s\n", policy.c_str(), name(s), most.worst,
                  most.where.c_str());
    }
  }
}

// As shipped, searching workers spin for 50 us and insist every 5:
// that long a fork's second half may lie with a victim in a leaf.
TEST(time_bounds, with_spinning_a_search_takes_up_to_the_time_to_insist) {
  constexpr picoseconds insist = 5'000 * nanosecond + search;
  for (const shape s : all_shapes) {
    excess most;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const random_tree t(s, seed);
      const picoseconds lag = insist * t.span_steps();
      for (const unsigned p : {2u, 8u, 32u}) {
        const tree_run r = run_tree(t, p, "random_ws", seed, 50);
        EXPECT_LE(r.time, greedy(t, p) + lag) << described(s, seed, p, "random_ws");
        most.see(t, r, p, described(s, seed, p, "random_ws"));
      }
    }
    std::printf("spin 50 us       %-9s largest (T_P - T_1 / P) / T_inf: %.4f, %s\n", name(s), most.worst,
                most.where.c_str());
  }
}

// The check must be able to fail: a serial schedule on several workers is not greedy.
TEST(time_bounds, the_serial_policy_breaks_the_greedy_bound) {
  const random_tree t(shape::balanced, 4);
  const tree_run r = run_tree(t, 8, "serial");
  EXPECT_EQ(r.time, t.work());
  EXPECT_GT(r.time, greedy(t, 8) + search * t.span_steps());
}

}  // namespace
}  // namespace time_bounds_test
}  // namespace heddle::sim
