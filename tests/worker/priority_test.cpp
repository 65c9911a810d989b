// Priorities: which threads run first, and that none is lost on the way. eviction_test.cpp tests which thread is
// evicted for which.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/fib.hpp"
#include "support/preemption.hpp"
#include "support/runtimes.hpp"

namespace priority_test {
namespace {

using heddle::priority;
using heddle_test::fib;
using heddle_test::in;
using heddle_test::options_for;
using heddle_test::wait_for;

// --- order ---------------------------------------------------------------------------------------------------------

std::vector<std::pair<int, int>> order_of(heddle::runtime& rt, const std::vector<int>& levels) {
  std::vector<std::pair<int, int>> order;  // one worker: no race
  rt.run([&] {
    std::vector<heddle::thread> all;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      all.emplace_back(in(rt, priority{levels[i]}),
                       [&order, level = levels[i], i] { order.emplace_back(level, static_cast<int>(i)); });
    }
    for (auto& t : all) t.join();
  });
  return order;
}

TEST(priority, higher_levels_first_high_ones_in_order_low_ones_newest_first) {
  heddle::runtime rt(options_for(1));
  const auto order = order_of(rt, {0, -1, 1, -7, 7, 0, -1, 3, 1, 0, -7, 7, -1});
  const std::vector<std::pair<int, int>> expected = {{7, 4}, {7, 11},  {3, 7},  {1, 2},  {1, 8},   {0, 0}, {0, 5},
                                                     {0, 9}, {-1, 12}, {-1, 6}, {-1, 1}, {-7, 10}, {-7, 3}};
  EXPECT_EQ(order, expected);
}

class each_policy : public testing::TestWithParam<std::string> {};

TEST_P(each_policy, levels_are_strict_on_one_worker) {
  heddle::runtime rt(options_for(1, heddle_test::fitting(GetParam(), 1)));
  std::vector<int> levels;
  for (int i = 0; i < 300; ++i) levels.push_back(i * 7 % 15 - 7);
  const auto order = order_of(rt, levels);
  ASSERT_EQ(order.size(), levels.size());
  EXPECT_TRUE(
      std::is_sorted(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; }));
}

TEST_P(each_policy, forks_groups_and_waits_work_on_every_level) {
  for (const unsigned workers : {1u, 3u}) {
    heddle::runtime rt(options_for(workers, heddle_test::fitting(GetParam(), workers)));
    std::atomic<long> sum{0};
    heddle::mutex m;
    long guarded = 0;
    const auto body = [&] {
      heddle::task_group g;
      for (int i = 0; i < 8; ++i) {
        g.run([&] {
          sum.fetch_add(fib(8));
          const std::lock_guard hold(m);
          ++guarded;
        });
      }
      g.wait();
      heddle::this_thread::yield();
      const std::lock_guard hold(m);
      ++guarded;
    };
    std::vector<heddle::thread> all;
    for (int level = -7; level <= 7; ++level) all.emplace_back(in(rt, priority{level}), body);
    rt.run([&] {
      std::vector<heddle::thread> inner;
      for (int level = -7; level <= 7; ++level) inner.emplace_back(in(rt, priority{level}), body);
      heddle::task_group g;
      for (int level : {-2, 0, 2}) {
        g.priority(priority{level});
        for (int i = 0; i < 5; ++i) g.run(body);
      }
      g.wait();
      for (auto& t : inner) t.join();
    });
    for (auto& t : all) t.join();
    EXPECT_EQ(sum.load(), 45 * 8 * 21);
    EXPECT_EQ(guarded, 45 * 9);
  }
}

INSTANTIATE_TEST_SUITE_P(priority, each_policy, testing::ValuesIn(heddle_test::all_policies),
                         [](const auto& info) { return heddle_test::test_name(info.param); });

TEST(priority, children_of_a_group_have_its_level) {
  heddle::runtime rt(options_for(1));
  std::vector<int> order;
  rt.run([&] {
    heddle::task_group low, high;
    low.priority(priority::low);
    high.priority(priority::high);
    for (int i = 0; i < 3; ++i) low.run([&] { order.push_back(-1); });
    for (int i = 0; i < 3; ++i) high.run([&] { order.push_back(1); });
    order.push_back(0);
    low.wait();
    high.wait();
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 1, 1, -1, -1, -1}));
}

TEST(priority, a_thread_that_yields_lets_no_lower_one_run) {
  heddle::runtime rt(options_for(1));
  rt.run([&] {
    std::vector<int> order;
    const auto two_slices = [&](int level) {
      return [&order, level] {
        order.push_back(level);
        heddle::this_thread::yield();
        order.push_back(level);
      };
    };
    std::vector<heddle::thread> all;
    for (const int level : {-1, 0, 1, -1, 0, 1}) all.emplace_back(in(rt, priority{level}), two_slices(level));
    heddle::this_thread::yield();  // to the others of the normal level at most, and to what is above
    EXPECT_EQ(std::count(order.begin(), order.end(), -1), 0);
    for (auto& t : all) t.join();
    EXPECT_EQ(order, (std::vector<int>{1, 1, 1, 1, 0, 0, 0, 0, -1, -1, -1, -1}));
  });
}

TEST(priority, levels_that_do_not_exist_are_refused) {
  heddle::runtime rt(options_for(1));
  for (const int level : {-8, 8, 1000}) {
    EXPECT_THROW(heddle::thread(in(rt, priority{level}), [] {}), std::invalid_argument);
    EXPECT_THROW(rt.run([&] { heddle::task_group().priority(priority{level}); }), std::invalid_argument);
  }
  try {
    heddle::thread t(in(rt, priority{8}), [] {});
    t.join();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("priority 8"), std::string::npos) << e.what();
  }
}

// --- several workers -----------------------------------------------------------------------------------------------

TEST(priority, idle_workers_take_what_a_busy_one_has_made) {
  for (const int level : {-1, 1}) {
    heddle::runtime rt(options_for(2));
    rt.run([&] {
      std::atomic<bool> done{false};
      heddle::thread t(in(rt, priority{level}), [&] { done = true; });
      wait_for(done);  // this worker is not to be had
      t.join();
    });
  }
}

TEST(priority, no_wake_up_is_lost) {
  heddle::runtime_options o = options_for(3);
  o.spin = 0;
  heddle::runtime rt(o);
  std::atomic<int> ran{0};
  constexpr int rounds = 2000;
  for (int i = 0; i < rounds; ++i) {
    heddle::thread t(in(rt, priority{i % 15 - 7}), [&] {
      heddle::thread inner(in(rt, priority{-i % 8}), [&] { ran.fetch_add(1); });
      inner.join();
    });
    t.join();
  }
  EXPECT_EQ(ran.load(), rounds);
}

// Threads of all levels that wait for each other, over and over, from inside and outside.
TEST(priority, threads_of_all_levels_meet) {
  heddle::runtime rt(options_for(4));
  constexpr int threads = 30;
  const int phases = 200 * heddle_test::stress();
  heddle::barrier meet(threads);
  std::atomic<int> passed{0};
  std::vector<heddle::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back(in(rt, priority{i % 15 - 7}), [&] {
      for (int p = 0; p < phases; ++p) {
        meet.arrive_and_wait();
        passed.fetch_add(1);
      }
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(passed.load(), threads * phases);
}

}  // namespace
}  // namespace priority_test
