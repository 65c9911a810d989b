// Almost deterministic work stealing: which worker runs what, and what becomes of hints that are wrong.
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "policy/adws/distribution.hpp"
#include "policy/registry.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace adws_test {
namespace {

using heddle::policy::distribution_range;

TEST(distribution_range, splits_by_share_and_snaps_to_workers) {
  distribution_range r{0, 8};
  const distribution_range upper = r.split_upper(0.25);
  EXPECT_EQ(upper.from, 6);
  EXPECT_EQ(upper.to, 8);
  EXPECT_EQ(r.to, 6);
  EXPECT_EQ(upper.owner(), 6u);
  EXPECT_EQ(upper.last(), 7u);
  EXPECT_TRUE(upper.is_search_root());
  distribution_range thirds{0, 7};
  const distribution_range last = thirds.split_upper(3.0 / 7 + 1e-12);
  EXPECT_EQ(last.from, 4);
  distribution_range inside{1.25, 1.75};
  EXPECT_FALSE(inside.is_search_root());
  EXPECT_EQ(inside.last(), 1u);
  EXPECT_FALSE(inside.covers_last());
  EXPECT_TRUE((distribution_range{0.5, 2}).covers_last());
  EXPECT_EQ((distribution_range{0.5, 2}).last(), 1u);
  EXPECT_TRUE((distribution_range{0.5, 1.1}).spans_members());
  EXPECT_FALSE((distribution_range{0.5, 1}).spans_members()) << "a search root, and nothing of it can be given away";
  EXPECT_FALSE((distribution_range{1, 2}).spans_members());
}

TEST(distribution_range, a_cut_near_a_worker_inside_the_range_is_put_there) {
  distribution_range r{0, 2};
  EXPECT_EQ(r.split_upper(0.504).from, 1);
  EXPECT_FALSE(r.spans_members());
  distribution_range border{0.99, 1.01};
  EXPECT_EQ(border.split_upper(0.9).from, 1) << "so that a border is not sought down to the leaves";
  // Never at an end of the range itself: many small children would all get nothing, and the neighbour.
  distribution_range small{0, 1};
  EXPECT_EQ(small.split_upper(0.002).owner(), 0u);
  EXPECT_LT(small.to, 1);
}

// Four children a group, with the given shares of work, down to leaves.
struct shape {
  double share[4];
  int depth;
};

void predict(const shape& s, int depth, distribution_range r, std::vector<int>& at) {
  if (depth == 0) {
    at.push_back(static_cast<int>(r.from));
    return;
  }
  double left = s.share[0] + s.share[1] + s.share[2] + s.share[3];
  for (const double work : s.share) {
    distribution_range child{r.from, r.from};
    if (r.is_search_root()) child = r.split_upper(std::min(work / left, 1.0));
    else child = r;
    left -= work;
    predict(s, depth - 1, child, at);
  }
}

void execute(heddle::runtime& rt, const shape& s, int depth, std::size_t first, std::vector<int>& at) {
  if (depth == 0) {
    at[first] = rt.worker_rank();
    return;
  }
  const std::size_t leaves = std::size_t{1} << (2 * (depth - 1));
  heddle::task_group group(s.share[0] + s.share[1] + s.share[2] + s.share[3]);
  for (std::size_t i = 0; i < 4; ++i) {
    group.run([&, i] { execute(rt, s, depth - 1, first + i * leaves, at); }, s.share[i]);
  }
  group.wait();
}

class adws_map : public testing::TestWithParam<unsigned> {};

TEST_P(adws_map, without_stealing_each_leaf_runs_where_the_ranges_say) {
  heddle_test::watchdog guard("adws map");
  const unsigned workers = GetParam();
  heddle::runtime rt({.workers = workers, .policy = "adws:steal=off"});
  for (const shape& s : {shape{{1, 1, 1, 1}, 4}, shape{{1, 2, 3, 4}, 4}, shape{{8, 0.5, 0.25, 0.25}, 3}}) {
    std::vector<int> expected;
    predict(s, s.depth, {0, static_cast<double>(workers)}, expected);
    for (int iteration = 0; iteration < 5; ++iteration) {
      std::vector<int> at(expected.size(), -1);
      rt.run([&] { execute(rt, s, s.depth, 0, at); });
      ASSERT_EQ(at, expected) << "iteration " << iteration;
    }
    // The same again with all iterations in one root task, which returns to its owner after each.
    rt.run([&] {
      for (int iteration = 0; iteration < 5; ++iteration) {
        std::vector<int> at(expected.size(), -1);
        execute(rt, s, s.depth, 0, at);
        EXPECT_EQ(at, expected) << "iteration " << iteration;
        EXPECT_EQ(rt.worker_rank(), 0);
      }
    });
  }
}

TEST_P(adws_map, forks_are_halved_and_loops_too) {
  heddle_test::watchdog guard("adws map");
  const unsigned workers = GetParam();
  heddle::runtime rt({.workers = workers, .policy = "adws:steal=off"});
  constexpr std::size_t n = 1024;
  std::vector<int> first(n), again(n);
  const auto sweep = [&](std::vector<int>& at) {
    heddle::parallel_for(std::size_t{0}, n, [&](std::size_t i) { at[i] = rt.worker_rank(); }, {.grain = 8});
  };
  rt.run([&] {
    for (int i = 0; i < 3; ++i) sweep(first);
    for (int i = 0; i < 5; ++i) {
      sweep(again);
      EXPECT_EQ(first, again) << i;
    }
  });
  // The first half of a fork is the lower part of the range, and so is the lower half of a loop.
  for (std::size_t i = 0; i < n; ++i) {
    const double place = static_cast<double>(i) * workers / n;
    EXPECT_NEAR(first[i], std::floor(place), 1.0) << i;
  }
  std::vector<int> used(workers, 0);
  for (const int rank : first) ++used[static_cast<std::size_t>(rank)];
  for (unsigned w = 0; w < workers; ++w) EXPECT_NEAR(used[w], static_cast<double>(n) / workers, 40) << w;
}

// A loop of a fraction of a microsecond, which would be quiet under random stealing as soon as its call site is known.
TEST_P(adws_map, inline_loops_are_laid_out_like_any) {
  heddle_test::watchdog guard("adws map");
  const unsigned workers = GetParam();
  heddle::runtime rt({.workers = workers, .policy = "adws:steal=off"});
  constexpr std::size_t n = 64;
  std::vector<int> first(n), again(n);
  const auto sweep = [&](std::vector<int>& at) {
    heddle::parallel_for(std::size_t{0}, n, [&](std::size_t i) { at[i] = rt.worker_rank(); }, {.grain = 1});
  };
  rt.run([&] {
    sweep(first);
    for (int i = 0; i < 200; ++i) {
      sweep(again);
      ASSERT_EQ(first, again) << i;
    }
  });
  EXPECT_EQ(first.front(), 0);
  EXPECT_EQ(first.back(), static_cast<int>(workers) - 1);
}

TEST_P(adws_map, forks_with_hints_are_cut_by_them) {
  heddle_test::watchdog guard("adws map");
  const unsigned workers = GetParam();
  heddle::runtime rt({.workers = workers, .policy = "adws:steal=off"});
  const auto total = static_cast<double>(workers);
  for (int i = 0; i < 5; ++i) {
    int first = -1, second = -1, inner = -1;
    rt.run([&] {
      heddle::parallel_invoke(
          heddle::work_hint{3, 1},
          [&] {
            first = rt.worker_rank();
            heddle::parallel_invoke(heddle::work_hint{1, 2}, [] {}, [&] { inner = rt.worker_rank(); });
          },
          [&] { second = rt.worker_rank(); });
    });
    EXPECT_EQ(first, 0);
    distribution_range whole{0, total};
    EXPECT_EQ(second, static_cast<int>(whole.split_upper(0.25).from));
    EXPECT_EQ(inner, workers == 1 ? 0 : static_cast<int>(whole.split_upper(2.0 / 3).from));
  }
}

TEST_P(adws_map, groups_without_hints_are_shared_equally_once_they_are_known) {
  heddle_test::watchdog guard("adws map");
  const unsigned workers = GetParam();
  heddle::runtime rt({.workers = workers, .policy = "adws:steal=off"});
  constexpr int children = 24;
  std::vector<int> at(children);
  rt.run([&] {
    for (int iteration = 0; iteration < 3; ++iteration) {
      heddle::task_group group;
      for (int i = 0; i < children; ++i) group.run([&, i] { at[static_cast<std::size_t>(i)] = rt.worker_rank(); });
      group.wait();
    }
  });
  distribution_range r{0, static_cast<double>(workers)};
  for (int i = 0; i < children; ++i) {
    distribution_range child = r;
    if (r.is_search_root()) child = r.split_upper(1.0 / (children - i));
    EXPECT_EQ(at[static_cast<std::size_t>(i)], static_cast<int>(child.from)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(workers, adws_map, testing::Values(1u, 2u, 3u, 4u, 7u, 8u));

// With any hint, of the group and of the children, every child runs once.
class adws_hints : public testing::TestWithParam<std::string> {};

TEST_P(adws_hints, that_cannot_be_lose_nothing) {
  heddle_test::watchdog guard("adws hints");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const double values[] = {
      1, 0, -1, nan, infinite, -infinite, 1e-300, 1e300, std::numeric_limits<double>::denorm_min()};
  for (const unsigned workers : {1u, 2u, 4u}) {
    heddle::runtime rt({.workers = workers, .policy = GetParam()});
    for (const double total : values) {
      for (const double work : values) {
        std::atomic<int> ran{0};
        rt.run([&] {
          heddle::task_group group(total, 1 << 20);
          for (int i = 0; i < 5; ++i) {
            group.run(
                [&] {
                  heddle::task_group inner(work);
                  for (int j = 0; j < 3; ++j) inner.run([&] { ran.fetch_add(1); }, total);
                  inner.wait();
                  heddle::parallel_invoke([&] { ran.fetch_add(1); }, [&] { ran.fetch_add(1); });
                },
                work);
          }
          group.wait();
        });
        ASSERT_EQ(ran.load(), 25) << total << " " << work;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(policies, adws_hints, testing::Values("adws", "adws:steal=off"), [](const auto& info) {
  return info.param == "adws" ? std::string("steal") : std::string("no_steal");
});

TEST(adws, patience_is_a_count_of_glances) {
  EXPECT_NE(heddle::policy::make("adws:patience=0"), nullptr);
  EXPECT_THROW((void)heddle::policy::make("adws:patience=-1"), std::invalid_argument);
  EXPECT_THROW((void)heddle::policy::make("adws:patience=1001"), std::invalid_argument);
  // So long that only an insisting search takes anything: nothing is lost.
  heddle_test::watchdog guard("adws patience");
  heddle::runtime rt({.workers = 3, .policy = "adws:patience=1000"});
  std::atomic<int> sum{0};
  rt.run([&] {
    heddle::task_group group(1.0);
    for (int i = 0; i < 200; ++i) group.run([&] { sum += 1; }, i == 0 ? 1.0 : 0.0);
    group.wait();
  });
  EXPECT_EQ(sum, 200);
}

TEST(adws, steals_what_wrong_hints_gave_to_others) {
  heddle_test::watchdog guard("adws steal");
  heddle::runtime rt({.workers = 2, .policy = "adws"});
  // All work is hinted to the first child, which is worker 1's; both it and the other wait for each other.
  std::atomic<int> arrived{0};
  rt.run([&] {
    heddle::task_group group(1);
    group.run(
        [&] {
          heddle::task_group inner(2);
          for (int i = 0; i < 2; ++i) {
            inner.run(
                [&] {
                  arrived.fetch_add(1);
                  while (arrived.load() < 2) {
                  }
                },
                1);
          }
          inner.wait();
        },
        1);
    group.wait();
  });
  EXPECT_EQ(arrived.load(), 2);
}

TEST(adws, groups_that_do_not_nest_are_run_all_the_same) {
  heddle_test::watchdog guard("adws nesting");
  heddle::runtime rt({.workers = 4, .policy = "adws"});
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i) {
    rt.run([&] {
      heddle::task_group a(4), b(4);
      for (int k = 0; k < 4; ++k) {
        a.run([&] { ran.fetch_add(1); }, 1);
        b.run([&] { ran.fetch_add(1); }, 1);
      }
      a.wait();
      heddle::task_group c(2);
      c.run([&] { ran.fetch_add(1); }, 1);
      b.wait();
      c.wait();
    });
  }
  EXPECT_EQ(ran.load(), 50 * 9);
}

class without_a_place : public testing::TestWithParam<const char*> {};

// Threads that are nobody's children, as many as workers. They can meet only if each idle worker takes one, wherever it
// stands.
TEST_P(without_a_place, threads_go_to_all_workers_that_are_idle) {
  heddle_test::watchdog guard("adws threads without a place");
  for (const int workers : {3, 8}) {
    heddle::runtime rt({.workers = static_cast<std::size_t>(workers), .policy = GetParam()});
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> here{0};
      std::vector<heddle::thread> all;
      heddle::thread_options o;
      o.where = &rt;
      for (int i = 0; i < workers; ++i) {
        all.emplace_back(o, [&] {
          here.fetch_add(1);
          while (here.load() < workers) std::this_thread::yield();
        });
      }
      for (heddle::thread& t : all) t.join();
      EXPECT_EQ(here.load(), workers);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(adws, without_a_place, testing::Values("adws", "ml-adws", "ml-ws", "ml-adaptive"),
                         [](const auto& info) { return heddle_test::test_name(info.param); });

}  // namespace
}  // namespace adws_test
