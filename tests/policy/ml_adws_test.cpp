// Multi-level ADWS on a machine of 2 packages with 4 workers each: a third cache of 8 MB a package, 1 MB a worker.
#include <heddle/latch.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <vector>

#include "policy/adws/distribution.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace ml_adws_test {
namespace {

using heddle::policy::distribution_range;

constexpr const char* machine = "synthetic:pack:2 l3:1(size=8388608) l2:4(size=1048576) core:1 pu:1";
constexpr std::size_t mb = std::size_t{1} << 20;

heddle::runtime_options on(const std::string& policy) {
  heddle::runtime_options options;
  options.policy = policy;
  options.machine = machine;
  return options;
}

// Halves down to `bytes` of 256 KB; each leaf notes its worker.
void halve(heddle::runtime& rt, std::size_t bytes, std::size_t first, std::vector<int>& at) {
  if (bytes <= mb / 4) {
    at[first] = rt.worker_rank();
    return;
  }
  heddle::task_group group(2, bytes);
  group.run([&] { halve(rt, bytes / 2, first, at); }, 1);
  group.run([&] { halve(rt, bytes / 2, first + bytes / (mb / 2), at); }, 1);
  group.wait();
}

TEST(ml_adws, has_a_worker_for_each_leaf_of_the_machine) {
  heddle::runtime rt(on("ml-adws"));
  EXPECT_EQ(rt.workers(), 8u);
}

class ml_adws_map : public testing::TestWithParam<std::string> {};

// Data that fit into both third caches, and are too large for the second ones, are laid out over the packages. Each
// half fits into a package and is laid out over its workers. For this regular tree that is the layout of single-level
// ADWS.
TEST_P(ml_adws_map, regular_trees_are_laid_out_as_by_one_level) {
  heddle_test::watchdog guard("ml-adws map");
  heddle::runtime rt(on("ml-adws:steal=off,aggregation=" + GetParam()));
  for (const std::size_t size : {1 * mb, 4 * mb, 8 * mb, 16 * mb}) {
    std::vector<int> at(size / (mb / 4));
    for (int iteration = 0; iteration < 5; ++iteration) {
      std::fill(at.begin(), at.end(), -1);
      rt.run([&] { halve(rt, size, 0, at); });
      for (std::size_t i = 0; i < at.size(); ++i) {
        const std::size_t from_right = (at.size() - 1 - i) * 8 / at.size();
        ASSERT_EQ(at[i], static_cast<int>(from_right)) << size / mb << " MB, leaf " << i;
      }
    }
  }
}

// 64 MB: pieces that fit into a package's cache (8 MB) are run one after the other there, each by all of its workers.
TEST_P(ml_adws_map, what_fits_into_a_cache_runs_under_it_alone) {
  heddle_test::watchdog guard("ml-adws map");
  heddle::runtime rt(on("ml-adws:steal=off,aggregation=" + GetParam()));
  constexpr std::size_t size = 64 * mb, piece = 8 * mb, leaves = piece / (mb / 4);
  std::vector<int> at(size / (mb / 4), -1);
  for (int iteration = 0; iteration < 3; ++iteration) {
    std::fill(at.begin(), at.end(), -1);
    rt.run([&] { halve(rt, size, 0, at); });
    for (std::size_t p = 0; p < size / piece; ++p) {
      const int package = p < 4 ? 1 : 0;  // the first spawned half goes to the upper package
      for (std::size_t i = 0; i < leaves; ++i) {
        ASSERT_EQ(at[p * leaves + i], package * 4 + static_cast<int>((leaves - 1 - i) * 4 / leaves))
            << "piece " << p << " leaf " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(aggregation, ml_adws_map, testing::Values("range", "group"),
                         [](const auto& info) { return info.param; });

// With stealing: whoever runs a piece that fits, runs all of it, and at most one piece is open in a package at a time.
class ml : public testing::TestWithParam<std::string> {};

// With stealing: whoever runs a piece that fits, runs all of it, and at most one piece is open in a package at a time.
TEST_P(ml, one_root_task_at_a_time_in_a_memory_group) {
  heddle_test::watchdog guard("ml");
  heddle::runtime rt(on(GetParam()));
  constexpr int pieces = 16;
  std::atomic<int> open[2] = {0, 0};
  std::atomic<int> leaves{0};
  for (int iteration = 0; iteration < 10; ++iteration) {
    rt.run([&] {
      heddle::task_group all(pieces, pieces * 8 * mb);
      for (int p = 0; p < pieces; ++p) {
        all.run(
            [&] {
              const int package = rt.worker_rank() / 4;
              EXPECT_EQ(open[package].fetch_add(1), 0);
              heddle::task_group group(16, 8 * mb);
              for (int i = 0; i < 16; ++i) {
                group.run(
                    [&, package] {
                      EXPECT_EQ(rt.worker_rank() / 4, package);
                      leaves.fetch_add(1);
                    },
                    1);
              }
              group.wait();
              EXPECT_EQ(rt.worker_rank() / 4, package);
              open[package].fetch_sub(1);
            },
            1);
      }
      all.wait();
    });
  }
  EXPECT_EQ(leaves.load(), 10 * pieces * 16);
}

// The first piece, open under its package, ends only when its sibling, which waits above it, has run.
TEST_P(ml, tasks_of_different_levels_may_wait_for_each_other) {
  heddle_test::watchdog guard("ml waits");
  heddle::runtime rt(on(GetParam()));
  for (int iteration = 0; iteration < 20; ++iteration) {
    heddle::latch step(1);
    rt.run([&] {
      heddle::task_group all(2, 64 * mb);
      all.run(
          [&] {
            heddle::task_group group(2, 2 * mb);
            for (int i = 0; i < 2; ++i) group.run([&] { step.wait(); }, 1);
            group.wait();
          },
          0.01);
      all.run([&] { step.count_down(); }, 0.01);
      all.wait();
    });
  }
}

// Each half of a fork waits for the other one's deepest leaf: on one worker alone that would never end.
TEST_P(ml, forks_run_on_several_workers) {
  if (GetParam().find("off") != std::string::npos) GTEST_SKIP() << "needs thieves";
  heddle_test::watchdog guard("ml forks");
  heddle::runtime rt(on(GetParam()));
  for (int iteration = 0; iteration < 20; ++iteration) {
    std::atomic<int> arrived{0};
    const auto meet = [&] {
      arrived.fetch_add(1);
      while (arrived.load() < 4) {
      }
    };
    rt.run([&] {
      heddle::parallel_invoke([&] { heddle::parallel_invoke(meet, meet); },
                              [&] { heddle::parallel_invoke(meet, meet); });
    });
    EXPECT_EQ(arrived.load(), 4);
  }
}

INSTANTIATE_TEST_SUITE_P(policies, ml,
                         testing::Values("ml-adws", "ml-adws:aggregation=group", "ml-adws:steal=off", "ml-ws"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

TEST(ml_adws, loops_without_hints_use_all_workers) {
  heddle_test::watchdog guard("ml-adws loops");
  heddle::runtime rt(on("ml-adws:steal=off"));
  std::vector<int> at(4096);
  for (int i = 0; i < 4; ++i) {
    rt.run([&] {
      heddle::parallel_for(std::size_t{0}, at.size(), [&](std::size_t k) { at[k] = rt.worker_rank(); }, {.grain = 16});
    });
  }
  std::vector<int> seen = at;
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen.size(), 8u);
}

}  // namespace
}  // namespace ml_adws_test
