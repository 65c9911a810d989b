// The properties that SLAW, MTS and HWS alone have: the order of spawner and child, queues of memory groups, leaders.
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

namespace slaw_mts_hws_test {
namespace {

heddle::runtime_options on(const std::string& policy, const char* machine) {
  heddle::runtime_options options;
  options.policy = policy;
  options.machine = std::string("synthetic:") + machine;
  return options;
}

constexpr const char* two_pairs = "pack:2 l3:1(size=8388608) l2:2(size=1048576) core:1 pu:1";

// -1 after each spawn, i when child i runs.
std::vector<int> order_of_spawns(const char* policy) {
  heddle::runtime rt({.workers = 1, .policy = policy});
  std::vector<int> order;
  rt.run([&] {
    heddle::task_group group;
    for (int i = 0; i < 3; ++i) {
      group.run([&, i] { order.push_back(i); });
      order.push_back(-1);
    }
    group.wait();
  });
  return order;
}

TEST(slaw, begins_child_first) { EXPECT_EQ(order_of_spawns("slaw"), (std::vector<int>{0, -1, 1, -1, 2, -1})); }

TEST(slaw, spawns_parent_first_where_the_stack_is_deep) {
  EXPECT_EQ(order_of_spawns("slaw:depth=0"), (std::vector<int>{-1, -1, -1, 2, 1, 0}));
  EXPECT_EQ(order_of_spawns("slaw:depth=0,fresh=0"), (std::vector<int>{-1, -1, -1, 2, 1, 0}))
      << "the depth comes before what is queued";
}

// Of a task of depth 1 the children are spawned parent first, of the root child first.
TEST(slaw, counts_child_first_spawns_as_depth) {
  heddle::runtime rt({.workers = 1, .policy = "slaw:depth=1"});
  std::vector<int> order;
  rt.run([&] {
    heddle::task_group group;
    group.run([&] {
      heddle::task_group inner;
      inner.run([&] { order.push_back(2); });
      order.push_back(1);
      inner.wait();
    });
    order.push_back(3);
    group.wait();
  });
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

// A child that runs until its spawner has gone on needs the spawner stolen, if it is run first.
TEST(slaw, spawns_parent_first_after_an_interval_with_steals) {
  heddle_test::watchdog guard("slaw");
  heddle::runtime rt({.workers = 2, .policy = "slaw:interval=1,steals=0"});
  rt.run([&] {
    heddle::task_group group;
    std::atomic<int> gone_on{0};
    bool stayed[4];
    for (int i = 0; i < 4; ++i) {
      const int before = rt.worker_rank();
      group.run([&, i] {
        while (gone_on.load() <= i) {
        }
      });
      stayed[i] = rt.worker_rank() == before;
      gone_on.store(i + 1);
    }
    group.wait();
    EXPECT_FALSE(stayed[0]) << "child first";
    EXPECT_FALSE(stayed[1]) << "child first, on the other worker";
    EXPECT_TRUE(stayed[2]) << "one was stolen from this worker in its last interval";
  });
}

TEST(mts, a_group_runs_its_newest_task_first) {
  heddle::runtime rt({.workers = 1, .policy = "mts"});
  std::vector<int> order;
  rt.run([&] {
    heddle::task_group group;
    for (int i = 0; i < 5; ++i) group.run([&, i] { order.push_back(i); });
    group.wait();
  });
  EXPECT_EQ(order, (std::vector<int>{4, 3, 2, 1, 0}));
}

// Tasks that meet all workers: a steal brings one for each worker of the thief's group, or (batch=1) each its own.
class mts_batches : public testing::TestWithParam<std::string> {};

TEST_P(mts_batches, feed_every_worker_of_another_group) {
  heddle_test::watchdog guard("mts");
  heddle::runtime rt(on(GetParam(), two_pairs));
  ASSERT_EQ(rt.workers(), 4u);
  for (int iteration = 0; iteration < 50; ++iteration) {
    std::atomic<int> arrived{0};
    rt.run([&] {
      heddle::task_group group;
      for (int i = 0; i < 4; ++i) {
        group.run([&] {
          arrived.fetch_add(1);
          while (arrived.load() < 4) {
          }
        });
      }
      group.wait();
    });
    EXPECT_EQ(arrived.load(), 4);
    guard.progress();
  }
}

INSTANTIATE_TEST_SUITE_P(policies, mts_batches, testing::Values("mts", "mts:batch=1", "mts:victim=near,batch=3"),
                         [](const auto& info) { return "of_" + std::to_string(info.index); });

// level=1: children of the root are global, their children local: those run in the group of whoever spawned them.
TEST(hws, local_tasks_stay_in_their_group) {
  heddle_test::watchdog guard("hws");
  heddle::runtime rt(on("hws:level=1", two_pairs));
  std::atomic<int> ran{0};
  for (int iteration = 0; iteration < 20; ++iteration) {
    rt.run([&] {
      heddle::task_group group;
      for (int i = 0; i < 16; ++i) {
        group.run([&] {
          const int package = rt.worker_rank() / 2;
          heddle::task_group inner;
          for (int k = 0; k < 8; ++k) {
            inner.run([&, package] {
              EXPECT_EQ(rt.worker_rank() / 2, package);
              ran.fetch_add(1);
            });
          }
          inner.wait();
        });
      }
      group.wait();
    });
    guard.progress();
  }
  EXPECT_EQ(ran.load(), 20 * 16 * 8);
}

// Three global tasks that wait for each other: leaders alone are two; the third is
// taken by the slave that starves beside it. That slave may find the root first, which
// must not become local: its children could not leave its group, which has two workers.
TEST(hws, starving_slaves_take_global_tasks) {
  heddle_test::watchdog guard("hws");
  heddle::runtime rt(on("hws:level=4", two_pairs));
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> arrived{0};
    rt.run([&] {
      heddle::task_group group;
      for (int i = 0; i < 3; ++i) {
        group.run([&] {
          arrived.fetch_add(1);
          while (arrived.load() < 3) std::this_thread::yield();
        });
      }
      group.wait();
    });
    EXPECT_EQ(arrived.load(), 3);
    guard.progress();
  }
}

TEST(policies, bad_parameters_of_them_are_named) {
  for (const char* text :
       {"slaw:deep=3", "slaw:interval=0", "mts:victim=far", "mts:batch=-1", "hws:level=99", "hws:attempt=1"}) {
    EXPECT_THROW(heddle::runtime({.workers = 1, .policy = text}), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace slaw_mts_hws_test
