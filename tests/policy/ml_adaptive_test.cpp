// ml-adaptive: workers that idle leave their level; auto: what it chooses changes nothing that a program can see.
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace ml_adaptive_test {
namespace {

constexpr std::size_t mb = std::size_t{1} << 20;

heddle::runtime_options on(const std::string& policy) {
  heddle::runtime_options options;
  options.policy = policy;
  options.machine = "synthetic:pack:2 l3:1(size=8388608) l2:4(size=1048576) core:1 pu:1";
  return options;
}

class ml_adaptive : public testing::TestWithParam<std::string> {};

// `groups` root tasks of one package each, whose eight leaves together wait for each other.
void eight_meet(heddle::runtime& rt, int groups) {
  std::atomic<int> arrived{0};
  rt.run([&] {
    heddle::task_group all(groups, 64 * mb);
    for (int k = 0; k < groups; ++k) {
      all.run(
          [&] {
            heddle::task_group piece(8 / groups, 4 * mb);
            for (int i = 0; i < 8 / groups; ++i) {
              piece.run(
                  [&] {
                    arrived.fetch_add(1);
                    while (arrived.load() < 8) std::this_thread::yield();  // of the kernel: workers share processors
                  },
                  1);
            }
            piece.wait();
          },
          1);
    }
    all.wait();
  });
  EXPECT_EQ(arrived.load(), 8);
}

// A piece that fits into one package: ml-adws lets the four workers of that package run it, and no other ones.
TEST_P(ml_adaptive, idle_workers_help_out_beyond_their_package) {
  heddle_test::watchdog guard("ml-adaptive");
  heddle::runtime rt(on(GetParam()));
  ASSERT_EQ(rt.workers(), 8u);
  for (int iteration = 0; iteration < 20; ++iteration) {
    eight_meet(rt, 1);
    guard.progress();
  }
}

// Four root tasks of one package, of two leaves each, that wait for each other: one at a time would never end.
TEST_P(ml_adaptive, idle_workers_admit_further_root_tasks) {
  heddle_test::watchdog guard("ml-adaptive");
  heddle::runtime rt(on(GetParam()));
  const int iterations = heddle_test::thread_sanitized ? 4 : 20;  // each takes seconds there, when other programs run
  for (int iteration = 0; iteration < iterations; ++iteration) {
    eight_meet(rt, 4);
    guard.progress();
  }
}

// Unlike halves that fit into no cache: a quarter and the rest, down to what fits.
long unlike_halves(long n, std::size_t bytes) {
  if (n < 64) return n;
  long x = 0, y = 0;
  heddle::parallel_invoke(
      heddle::work_hint{1, 3, bytes}, [&, n] { x = unlike_halves(n / 4, bytes / 4); },
      [&, n] { y = unlike_halves(n - n / 4, bytes - bytes / 4); });
  return x + y;
}

TEST_P(ml_adaptive, runs_unlike_halves_larger_than_the_caches) {
  heddle_test::watchdog guard("ml-adaptive");
  heddle::runtime rt(on(GetParam()));
  for (int iteration = 0; iteration < 20; ++iteration) {
    rt.run([&] {
      EXPECT_EQ(unlike_halves(20000, 200 * mb), 20000);
      heddle::task_group both(2, 200 * mb);  // laid out again after it
      both.run([&] { EXPECT_EQ(unlike_halves(2000, 100 * mb), 2000); }, 1);
      both.run([&] { EXPECT_EQ(unlike_halves(3000, 100 * mb), 3000); }, 1);
      both.wait();
      EXPECT_EQ(unlike_halves(5000, 1 * mb), 5000);
    });
    guard.progress();
  }
}

// The first half waits for the second one, which is another worker's.
TEST_P(ml_adaptive, unlike_halves_run_at_the_same_time) {
  heddle_test::watchdog guard("ml-adaptive");
  heddle::runtime rt(on(GetParam()));
  for (int iteration = 0; iteration < 20; ++iteration) {
    std::atomic<bool> second{false};
    rt.run([&] {
      heddle::parallel_invoke(
          heddle::work_hint{1, 3, 200 * mb},
          [&] {
            // of the kernel: workers share processors
            while (!second.load()) std::this_thread::yield();
          },
          [&] { second.store(true); });
    });
    guard.progress();
  }
}

INSTANTIATE_TEST_SUITE_P(policies, ml_adaptive,
                         testing::Values("ml-adaptive", "ml-adaptive:patience=1", "ml-adaptive:levels=off", "auto",
                                         "ml-adaptive:bound=off,near=0", "ml-adaptive:near=1"),
                         [](const auto& info) { return "of_" + std::to_string(info.index); });

// Small runs (random stealing after three of them), large ones, and both again.
TEST(auto_policy, runs_of_every_size_are_run) {
  heddle_test::watchdog guard("auto");
  heddle::runtime rt(on("auto"));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) {
      int small = 0;
      rt.run([&] { small = 1; });
      ASSERT_EQ(small, 1);
    }
    std::atomic<int> ran{0};
    rt.run([&] { heddle::parallel_for(0, 10000, [&](int) { ran.fetch_add(1, std::memory_order_relaxed); }); });
    EXPECT_EQ(ran.load(), 10000);
    guard.progress();
  }
}

TEST(auto_policy, takes_no_parameters) {
  EXPECT_THROW(heddle::runtime({.workers = 1, .policy = "auto:levels=on"}), std::invalid_argument);
}

}  // namespace
}  // namespace ml_adaptive_test
