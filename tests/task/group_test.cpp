// task_group: counting, exceptions, cancellation, children that block, groups shared by several threads.
#include <heddle/blocking.hpp>
#include <heddle/latch.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"

namespace group_test {
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

TEST_P(group, computes_a_tree) {
  EXPECT_EQ(run([] { return fib(18); }), 2584);
}

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

// More than may wait in the queue: the others begin at once.
TEST_P(group, more_children_than_are_queued) {
  run([] {
    const int children = heddle_test::thread_sanitized ? 1000 : 5000;  // a stack each with spawn=parent
    std::atomic<int> done{0};
    heddle::task_group g;
    for (int i = 0; i < children; ++i) {
      g.run([&, i] {
        if (i % 500 == 0) heddle::this_thread::yield();
        ++done;
      });
    }
    g.wait();
    EXPECT_EQ(done.load(), children);
  });
}

TEST_P(group, tiny_children_run_once_each) {
  run([] {
    const int children = heddle_test::sanitized ? 1000 : 20'000;  // a stack each with spawn=parent
    std::vector<std::atomic<int>> ran(static_cast<std::size_t>(children));
    for (int round = 0; round < 3; ++round) {
      heddle::task_group g;
      for (auto& each : ran) g.run([&each] { ++each; });
      g.wait();
    }
    const auto wrong = std::count_if(ran.begin(), ran.end(), [](const auto& each) { return each.load() != 3; });
    EXPECT_EQ(wrong, 0);
  });
}

// Each level is run by the one above where it waits: the stack is changed before it ends.
TEST_P(group, recursion_deeper_than_a_stack) {
  run([] {
    struct level {
      static long at(int depth) {
        if (depth == 0) return 0;
        volatile char frame[200];
        frame[0] = 1;
        long below = 0;
        heddle::task_group g;
        g.run([&below, depth] { below = at(depth - 1); });
        g.wait();
        return below + frame[0];
      }
    };
    // with spawn=child each is a stack, which takes megabytes there
    const int levels = heddle_test::thread_sanitized ? 1000 : 8000;
    EXPECT_EQ(level::at(levels), levels);
  });
}

TEST_P(group, several_groups_in_one_queue) {
  run([] {
    int first = 0, second = 0;
    std::atomic<int> both{0};
    heddle::task_group a, b;
    for (int i = 0; i < 20; ++i) {
      a.run([&] { ++both; });
      b.run([&] { ++both; });
    }
    a.wait();
    a.run([&] { ++first; });
    b.wait();
    b.run([&] { ++second; });
    a.wait();
    b.wait();
    EXPECT_EQ(both.load(), 40);
    EXPECT_EQ(first + second, 2);
  });
}

TEST_P(group, the_last_child_may_be_a_call) {
  run([] {
    int a = 0, b = 0;
    heddle::task_group g;
    g.run([&] { a = 1; });
    g.run_and_wait([&] { b = 2; });
    EXPECT_EQ(a + b, 3);
    EXPECT_THROW(g.run_and_wait([] { throw std::runtime_error("mine"); }), std::runtime_error);
    g.run([] { throw std::runtime_error("a child's"); });
    EXPECT_THROW(g.run_and_wait([] {}), std::runtime_error);
    g.cancel();
    g.run_and_wait([&] { a = 5; });
    EXPECT_EQ(a, 1);
  });
}

// A closure whose copy throws leaves no child, in the queue or on a stack of its own.
TEST_P(group, a_closure_that_cannot_be_copied) {
  run([] {
    struct fragile {
      explicit fragile(bool* ran) : ran(ran) {}
      fragile(const fragile& other) : ran(other.ran) { throw 7; }
      void operator()() const { *ran = true; }
      bool* ran;
      std::array<char, 8> small{};
    };
    bool ran = false;
    const fragile f(&ran);
    heddle::task_group g;
    for (int i = 0; i < 100; ++i) EXPECT_THROW(g.run(f), int);
    int sum = 0;
    g.run([&] { ++sum; });
    g.wait();
    EXPECT_EQ(sum, 1);
    EXPECT_FALSE(ran);
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
  for (const char* policy : {"random_ws", "random_ws:spawn=parent"}) {
    heddle::runtime one(heddle::runtime_options{.workers = 1, .policy = policy});
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
}

// Made by one kernel thread, filled by a second one, waited for by a third one.
TEST(group_foreign, other_kernel_threads_run_and_wait) {
  for (int round = 0; round < 50; ++round) {
    int done = 0;
    auto g = std::make_unique<heddle::task_group>();
    std::thread([&] { g->run([&] { ++done; }); }).join();
    std::thread([&] { g->wait(); }).join();
    EXPECT_EQ(done, 1);
  }
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

// While its owner goes on making children, runs them, and waits, too.
TEST_P(group, any_threads_wait_several_at_once) {
  run([] {
    for (int round = 0; round < 20; ++round) {
      heddle::task_group g;
      std::atomic<int> done{0};
      const auto child = [&] {
        if (done.load() % 3 == 0) heddle::this_thread::yield();
        ++done;
      };
      for (int i = 0; i < 10; ++i) g.run(child);
      const auto wait = [&] {
        g.wait();
        EXPECT_GE(done.load(), 10);
      };
      std::array<heddle::thread, 3> others{heddle::thread(wait), heddle::thread(wait), heddle::thread(wait)};
      std::thread foreign(wait);
      for (int i = 0; i < 10; ++i) {
        g.run(child);
        if (i % 4 == round % 4) heddle::this_thread::yield();
      }
      g.wait();
      EXPECT_EQ(done.load(), 20);
      for (auto& t : others) t.join();
      heddle::blocking([&] { foreign.join(); });
      for (int i = 0; i < 10; ++i) g.run(child);
      g.wait();
      EXPECT_EQ(done.load(), 30);
    }
  });
}

// The owner has ended, or is busy with other things.
TEST_P(group, another_thread_waits_in_the_owners_place) {
  run([] {
    for (int round = 0; round < 20; ++round) {
      std::unique_ptr<heddle::task_group> g;
      std::atomic<int> done{0};
      heddle::latch made(1), waited(1);
      heddle::thread owner([&] {
        g = std::make_unique<heddle::task_group>();
        for (int i = 0; i < 10; ++i) g->run([&] { ++done; });
        made.count_down();
        if (round % 2 == 0) waited.wait();
      });
      made.wait();
      if (round % 4 == 1) owner.join();
      g->wait();
      EXPECT_EQ(done.load(), 10);
      waited.count_down();
      if (owner.joinable()) owner.join();
      g.reset();
    }
  });
}

// One of the waits throws.
TEST_P(group, an_exception_is_thrown_once) {
  run([] {
    heddle::task_group g;
    heddle::latch go(1);
    g.run([&] {
      go.wait();
      throw 7;
    });
    std::atomic<int> caught{0};
    const auto wait = [&] {
      try {
        g.wait();
      } catch (int) {
        ++caught;
      }
    };
    heddle::thread a(wait), b(wait);
    go.count_down();
    wait();
    a.join();
    b.join();
    EXPECT_EQ(caught.load(), 1);
  });
}

HEDDLE_OVER_RUNTIMES(group);

}  // namespace
}  // namespace group_test
