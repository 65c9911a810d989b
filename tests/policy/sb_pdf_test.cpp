// Space-bounded scheduling keeps to the capacities, parallel depth first to the order of the serial program; victims.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace sb_pdf_test {
namespace {

constexpr std::size_t mb = std::size_t{1} << 20;

heddle::runtime_options on(const std::string& policy, const char* machine) {
  heddle::runtime_options options;
  options.policy = policy;
  options.machine = std::string("synthetic:") + machine;
  return options;
}

class sb : public testing::TestWithParam<std::string> {};

// Tasks of 3 MB befit a cache of 8 MB (sigma 0.5), and two of them fill what mu leaves of it: 0.8 * 8 MB.
TEST_P(sb, admission_never_exceeds_a_cache) {
  heddle_test::watchdog guard("sb");
  heddle::runtime rt(on(GetParam(), "pack:2 l3:1(size=8388608) l2:4(size=1048576) core:1 pu:1"));
  ASSERT_EQ(rt.workers(), 8u);
  constexpr int tasks = 64;
  std::atomic<std::size_t> under[2] = {0, 0};
  std::atomic<std::size_t> most{0};
  std::atomic<int> ran{0};
  rt.run([&] {
    heddle::task_group all(tasks, tasks * 3 * mb);
    for (int i = 0; i < tasks; ++i) {
      all.run(
          [&] {
            const int package = rt.worker_rank() / 4;
            const std::size_t now = under[package].fetch_add(3 * mb) + 3 * mb;
            std::size_t seen = most.load();
            while (now > seen && !most.compare_exchange_weak(seen, now)) {
            }
            heddle::task_group group(8, 3 * mb);
            for (int k = 0; k < 8; ++k) {
              group.run(
                  [&, package] {
                    EXPECT_EQ(rt.worker_rank() / 4, package) << "left the cache that its parent is anchored to";
                    ran.fetch_add(1);
                  },
                  1);
            }
            group.wait();
            EXPECT_EQ(rt.worker_rank() / 4, package);
            under[package].fetch_sub(3 * mb);
          },
          1);
    }
    all.wait();
  });
  EXPECT_EQ(ran.load(), tasks * 8);
  EXPECT_LE(most.load(), 6 * mb);
}

// A cache of 4096 bytes holds one of two tasks, and a cache has two workers. A worker that idles beside the first task
// may not begin the second. A worker that idles under the other cache must begin it, because the first task and their
// parent keep their workers until both have begun. Which sleeper is nearest depends on the parent's worker, so the
// parent moves first.
TEST_P(sb, a_task_wakes_somebody_who_may_run_it) {
  heddle_test::watchdog guard("sb");
  for (int round = 0; round < 40; ++round) {
    guard.progress();
    heddle::runtime rt(on(GetParam(), "l2:2(size=4096) core:2 pu:1"));
    rt.run([&] {
      for (int i = 0; i < 2000 && rt.worker_rank() != round % 4; ++i) heddle::this_thread::yield();
      // so that the others go to sleep; if they do not, the test says nothing
      for (int i = 0; i < 2000; ++i) sched_yield();
      std::atomic<int> begun{0};
      const auto meet = [&begun] {
        while (begun.load() < 2) sched_yield();
      };
      heddle::task_group both(2, 4000);
      for (int i = 0; i < 2; ++i) {
        both.run(
            [&] {
              begun.fetch_add(1);
              meet();
            },
            1);
      }
      meet();
      both.wait();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(queues, sb, testing::Values("sb", "sb-d"),
                         [](const auto& info) { return info.param == "sb" ? "one" : "distributed"; });

TEST(pdf, one_worker_runs_leaves_in_the_order_of_the_program) {
  heddle::runtime rt({.workers = 1, .policy = "pdf"});
  std::vector<int> order;
  rt.run([&] {
    const auto descend = [&](auto&& self, int low, int high) -> void {
      if (high - low == 1) {
        order.push_back(low);
        return;
      }
      const int middle = (low + high) / 2;
      heddle::task_group group;
      group.run([&] { self(self, low, middle); });
      group.run([&] { self(self, middle, high); });
      group.wait();
    };
    descend(descend, 0, 64);
    heddle::parallel_invoke([&] { order.push_back(64); }, [&] { order.push_back(65); });
  });
  std::vector<int> expected(66);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(pdf, several_workers_run_everything_once) {
  heddle_test::watchdog guard("pdf");
  heddle::runtime rt({.workers = 4, .policy = "pdf"});
  std::atomic<int> ran{0};
  rt.run([&] {
    heddle::task_group group;
    for (int i = 0; i < 1000; ++i) {
      group.run([&] {
        heddle::task_group inner;
        for (int k = 0; k < 3; ++k) inner.run([&] { ran.fetch_add(1); });
        inner.wait();
      });
    }
    group.wait();
  });
  EXPECT_EQ(ran.load(), 3000);
}

}  // namespace
}  // namespace sb_pdf_test
