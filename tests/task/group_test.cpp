// task_group: counting, exceptions, cancellation, children that block, groups shared by several threads.
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"

namespace {

long fib(long n) {
  if (n < 2) return n;
  long x = 0;
  heddle::task_group g;
  g.run([&x, n] { x = fib(n - 1); });
  const long y = fib(n - 2);
  g.wait();
  return x + y;
}

class group : public heddle_test::over_runtimes {};

TEST_P(group, computes_a_tree) { EXPECT_EQ(run([] { return fib(18); }), 2584); }

TEST_P(group, waits_for_all_children) {
  run([] {
    std::atomic<int> done{0};
    for (int round = 0; round < 50; ++round) {
      heddle::task_group g;
      for (int i = 0; i < 40; ++i) {
        g.run([&, i] {
          if (i % 3 == 0) heddle::this_thread::yield();
          ++done;
        });
      }
      g.wait();
      ASSERT_EQ(done.load(), (round + 1) * 40);
    }
  });
}

TEST_P(group, can_be_used_again_after_wait) {
  run([] {
    heddle::task_group g(10.0, 4096);
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
      g.run([&] { ++sum; }, 1.0);
      g.wait();
    }
    EXPECT_EQ(sum, 10);
  });
}

TEST_P(group, children_may_block_on_each_other) {
  run([] {
    std::atomic<bool> second{false};
    heddle::task_group g;
    g.run([&] {
      while (!second.load()) heddle::this_thread::yield();
    });
    g.run([&] { second = true; });
    g.wait();
    EXPECT_TRUE(second.load());
  });
}

TEST_P(group, children_may_run_more_children_of_the_same_group) {
  run([] {
    std::atomic<int> leaves{0};
    heddle::task_group g;
    struct grow {
      static void at(heddle::task_group& group, std::atomic<int>& leaves, int depth) {
        if (depth == 0) {
          ++leaves;
          return;
        }
        for (int i = 0; i < 2; ++i) group.run([&group, &leaves, depth] { at(group, leaves, depth - 1); });
      }
    };
    grow::at(g, leaves, 8);
    g.wait();
    EXPECT_EQ(leaves.load(), 256);
  });
}

TEST_P(group, foreign_threads_may_run_children) {
  std::atomic<int> done{0};
  run([&] {
    heddle::task_group g;
    std::array<std::thread, 3> foreign;
    std::atomic<int> finished{0};
    for (auto& t : foreign) {
      t = std::thread([&] {
        for (int i = 0; i < 50; ++i) g.run([&] { ++done; });
        ++finished;
      });
    }
    while (finished.load() != 3) heddle::this_thread::yield();
    for (auto& t : foreign) t.join();
    g.wait();
    EXPECT_EQ(done.load(), 150);
  });
}

TEST_P(group, first_exception_is_thrown_and_the_rest_dropped) {
  run([] {
    for (int culprit = 0; culprit < 20; ++culprit) {
      heddle::task_group g;
      std::atomic<int> ran{0};
      for (int i = 0; i < 20; ++i) {
        g.run([&, i] {
          if (i == culprit) throw i;
          ++ran;
        });
      }
      try {
        g.wait();
        FAIL() << "no exception";
      } catch (int i) {
        EXPECT_EQ(i, culprit);
      }
      EXPECT_LT(ran.load(), 20);
      g.run([&] { ran = 100; });
      g.wait();  // usable again, the old exception is gone
      EXPECT_EQ(ran.load(), 100);
    }
  });
}

// Children that are queued when the stop comes have not begun.
TEST(group_stops, drop_queued_children) {
  heddle::runtime one(heddle::runtime_options{.workers = 1, .policy = "random_ws:spawn=parent"});
  one.run([] {
    std::stop_source source;
    int ran = 0;
    heddle::task_group g(source.get_token());
    for (int i = 0; i < 5; ++i) g.run([&] { ++ran; });
    source.request_stop();
    g.wait();
    EXPECT_EQ(ran, 0);
  });
}

TEST(group_owners, no_other_kernel_thread_waits) {
  heddle::task_group g;
  g.run([] {});
  std::thread([&] { EXPECT_THROW(g.wait(), std::logic_error); }).join();
  g.wait();
}

TEST_P(group, cancelled_groups_run_nothing) {
  run([] {
    heddle::task_group g;
    g.cancel();
    bool ran = false;
    g.run([&] { ran = true; });
    g.wait();
    EXPECT_FALSE(ran);
    std::stop_source stop;
    heddle::task_group h(stop.get_token());
    stop.request_stop();
    h.run([&] { ran = true; });
    h.wait();
    EXPECT_FALSE(ran);
  });
}

TEST_P(group, large_closures_are_boxed) {
  run([] {
    std::array<char, 5000> big{};
    big[4999] = 7;
    int seen = 0;
    heddle::task_group g;
    g.run([big, &seen] { seen = big[4999]; });
    g.wait();
    EXPECT_EQ(seen, 7);
  });
}

TEST_P(group, destructor_waits) {
  run([] {
    std::atomic<int> done{0};
    {
      heddle::task_group g;
      for (int i = 0; i < 10; ++i) {
        g.run([&] {
          heddle::this_thread::yield();
          ++done;
        });
      }
    }
    EXPECT_EQ(done.load(), 10);
  });
}

TEST_P(group, wait_belongs_to_the_owner) {
  run([] {
    heddle::task_group g;
    bool refused = false;
    heddle::thread other([&] {
      try {
        g.wait();
      } catch (const std::logic_error&) {
        refused = true;
      }
    });
    other.join();
    EXPECT_TRUE(refused);
  });
}

HEDDLE_OVER_RUNTIMES(group);

TEST(group_foreign, whole_life_on_a_foreign_thread) {
  std::atomic<int> done{0};
  heddle::task_group g;
  for (int i = 0; i < 100; ++i) g.run([&] { ++done; });
  g.wait();
  EXPECT_EQ(done.load(), 100);
}

}  // namespace
