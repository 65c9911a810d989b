// Priorities: what runs first, what a tick evicts, and that nothing is lost on the way.
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/runtimes.hpp"

namespace {

using namespace std::chrono_literals;
using heddle::preemption;
using heddle::priority;

heddle::runtime_options options_for(unsigned workers, const std::string& policy = "random_ws") {
  heddle::runtime_options o;
  o.workers = workers;
  o.policy = policy;
  o.preempt = preemption::none;
  o.preempt_interval = 100us;
  return o;
}

heddle::thread_options in(heddle::runtime& where, priority level, preemption how = preemption::none) {
  heddle::thread_options o;
  o.where = &where;
  o.priority = level;
  o.preemption = how;
  return o;
}

long fib(long n) {
  if (n < 2) return n;
  const auto [a, b] = heddle::parallel_invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

void wait_for(const std::atomic<bool>& flag) {
  while (!flag.load()) {}
}
// Until so many more ticks have come.
void wait_for_ticks(heddle::runtime& rt, std::uint64_t count) {
  const std::uint64_t end = rt.statistics().ticks + count;
  while (rt.statistics().ticks < end) {}
}

// --- order ---------------------------------------------------------------------------------------------------------

std::vector<std::pair<int, int>> order_of(heddle::runtime& rt, const std::vector<int>& levels) {
  std::vector<std::pair<int, int>> order;  // one worker: no race
  rt.run([&] {
    std::vector<heddle::thread> all;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      all.emplace_back(in(rt, priority{levels[i]}), [&order, level = levels[i], i] { order.emplace_back(level, static_cast<int>(i)); });
    }
    for (auto& t : all) t.join();
  });
  return order;
}

TEST(priority, higher_levels_first_high_ones_in_order_low_ones_newest_first) {
  heddle::runtime rt(options_for(1));
  const auto order = order_of(rt, {0, -1, 1, -7, 7, 0, -1, 3, 1, 0, -7, 7, -1});
  const std::vector<std::pair<int, int>> expected = {{7, 4},  {7, 11}, {3, 7},   {1, 2},  {1, 8},   {0, 0}, {0, 5},
                                                     {0, 9}, {-1, 12}, {-1, 6}, {-1, 1}, {-7, 10}, {-7, 3}};
  EXPECT_EQ(order, expected);
}

class each_policy : public testing::TestWithParam<std::string> {};

TEST_P(each_policy, levels_are_strict_on_one_worker) {
  heddle::runtime rt(options_for(1, GetParam()));
  std::vector<int> levels;
  for (int i = 0; i < 300; ++i) levels.push_back(i * 7 % 15 - 7);
  const auto order = order_of(rt, levels);
  ASSERT_EQ(order.size(), levels.size());
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; }));
}

TEST_P(each_policy, forks_groups_and_waits_work_on_every_level) {
  for (const unsigned workers : {1u, 3u}) {
    heddle::runtime rt(options_for(workers, GetParam()));
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

INSTANTIATE_TEST_SUITE_P(priority, each_policy, testing::ValuesIn(heddle_test::all_policies), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

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
    const auto two_turns = [&](int level) {
      return [&order, level] {
        order.push_back(level);
        heddle::this_thread::yield();
        order.push_back(level);
      };
    };
    std::vector<heddle::thread> all;
    for (const int level : {-1, 0, 1, -1, 0, 1}) all.emplace_back(in(rt, priority{level}), two_turns(level));
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

// --- ticks ---------------------------------------------------------------------------------------------------------

struct way {
  preemption how;
  heddle::tls storage;
  std::string policy;
};

class techniques : public testing::TestWithParam<way> {
 protected:
  void SetUp() override {
    if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
    if (heddle_test::sanitized && GetParam().storage == heddle::tls::own) GTEST_SKIP() << "no own thread-local storage under sanitizers";
  }
  heddle::runtime_options options(unsigned workers) const { return options_for(workers, GetParam().policy); }
  heddle::thread_options preemptive(heddle::runtime& rt, int level) const {
    heddle::thread_options o = in(rt, priority{level}, GetParam().how);
    o.tls = GetParam().storage;
    return o;
  }
};

TEST_P(techniques, a_tick_evicts_a_thread_for_a_higher_one) {
  for (const auto& [lower, higher] : {std::pair{-1, 0}, std::pair{0, 1}, std::pair{-1, 1}, std::pair{-3, -2}, std::pair{2, 3}}) {
    heddle::runtime rt(options(1));
    std::atomic<bool> begun{false}, done{false};
    heddle::thread spinner(preemptive(rt, lower), [&] {
      begun = true;
      wait_for(done);
    });
    wait_for(begun);
    heddle::thread t(in(rt, priority{higher}), [&] { done = true; });
    t.join();
    spinner.join();
  }
}

TEST_P(techniques, a_tick_evicts_no_thread_for_a_lower_one) {
  for (const auto& [lower, higher] : {std::pair{-1, 0}, std::pair{0, 1}, std::pair{-1, 1}, std::pair{-3, -2}, std::pair{2, 3}}) {
    heddle::runtime rt(options(1));
    std::atomic<bool> begun{false}, lower_ran{false}, too_early{false};
    heddle::thread spinner(preemptive(rt, higher), [&] {
      begun = true;
      wait_for_ticks(rt, 20);
      too_early = lower_ran.load();
    });
    wait_for(begun);
    heddle::thread t(in(rt, priority{lower}), [&] { lower_ran = true; });
    t.join();
    spinner.join();
    EXPECT_FALSE(too_early.load()) << higher << " was evicted for " << lower;
  }
}

// Two that are not preemptive and spin for each other: both of those that were there first must go, wherever they run.
TEST_P(techniques, every_worker_is_freed_of_lower_ones) {
  for (const auto& [lower, higher] : {std::pair{-1, 1}, std::pair{0, 2}, std::pair{-2, 0}}) {
    // Normal ones are the policy's: one that lies behind the other at a busy worker may not be had for the second worker.
    if (higher == 0 && GetParam().policy != "random_ws") continue;
    heddle::runtime rt(options(2));
    std::atomic<int> begun{0}, met{0};
    std::atomic<bool> stop{false};
    std::vector<heddle::thread> spinners, pair;
    for (int i = 0; i < 4; ++i) {
      spinners.emplace_back(preemptive(rt, lower), [&] {
        begun.fetch_add(1);
        wait_for(stop);
      });
    }
    while (begun.load() < 2) {}
    for (int i = 0; i < 2; ++i) {
      pair.emplace_back(in(rt, priority{higher}), [&] {
        met.fetch_add(1);
        while (met.load() < 2) {}
      });
    }
    for (auto& t : pair) t.join();
    stop = true;
    for (auto& t : spinners) t.join();
  }
}

// A normal thread that another worker, busy for good, has made ready.
TEST_P(techniques, a_low_thread_gives_way_to_work_of_another_worker) {
  if (GetParam().policy != "random_ws") GTEST_SKIP() << "whose work may be taken is up to the policy";
  heddle::runtime rt(options(2));
  std::atomic<bool> begun{false}, done{false};
  heddle::thread low(preemptive(rt, -1), [&] {
    begun = true;
    wait_for(done);
  });
  wait_for(begun);
  rt.run([&] {
    heddle::thread t(in(rt, priority::normal), [&] { done = true; });
    wait_for(done);
    t.join();
  });
  low.join();
}

TEST_P(techniques, equal_levels_take_turns) {
  for (const int level : {-2, 0, 2}) {
    for (const unsigned workers : {1u, 2u}) {
      heddle::runtime rt(options(workers));
      constexpr int threads = 6, phases = 10;
      std::atomic<int> arrived{0}, phase{0};
      std::vector<heddle::thread> all;
      for (int i = 0; i < threads; ++i) {
        all.emplace_back(preemptive(rt, level), [&] {
          for (int p = 0; p < phases; ++p) {
            if (arrived.fetch_add(1) == threads - 1) {
              arrived = 0;
              phase.fetch_add(1);
            }
            while (phase.load() <= p) {}
          }
        });
      }
      for (auto& t : all) t.join();
      EXPECT_EQ(phase.load(), phases);
    }
  }
}

TEST_P(techniques, an_evicted_low_thread_goes_on_before_its_equals) {
  heddle::runtime_options o = options(1);
  o.preempt_interval = 2ms;  // the resumed one shall get round to its look before its turn ends
  heddle::runtime rt(o);
  constexpr int rounds = 40;
  std::atomic<int> running{0}, evicted{0}, same{0}, other{0};
  std::atomic<bool> stop{false};
  std::vector<heddle::thread> lows;
  for (int id = 1; id <= 3; ++id) {
    lows.emplace_back(preemptive(rt, -1), [&, id] {
      while (!stop.load()) {
        running.store(id);
        if (const int who = evicted.exchange(0); who != 0) (who == id ? same : other).fetch_add(1);
      }
    });
  }
  for (int i = 0; i < rounds; ++i) {
    while (evicted.load() != 0 || running.load() == 0) {}
    heddle::thread high(in(rt, priority::high), [&] { evicted.store(running.load()); });
    high.join();
  }
  while (evicted.load() != 0) {}
  stop = true;
  for (auto& t : lows) t.join();
  EXPECT_EQ(same.load() + other.load(), rounds);
  EXPECT_GE(same.load(), rounds / 2);  // every 16th time it is the oldest; by turns it would be none
}

// What strict levels do not do: whoever waits for a lower thread waits for all that runs before that one.
TEST_P(techniques, priorities_are_not_inherited) {
  heddle::runtime rt(options(1));
  heddle::mutex m;
  std::atomic<bool> held{false}, spins{false}, stop{false}, got{false}, got_early{false};
  heddle::thread low(preemptive(rt, -1), [&] {
    const std::lock_guard hold(m);
    held = true;
    wait_for(spins);
  });
  wait_for(held);
  heddle::thread middle(preemptive(rt, 0), [&] {
    spins = true;
    wait_for(stop);
  });
  wait_for(spins);
  heddle::thread high(in(rt, priority::high), [&] {
    const std::lock_guard hold(m);
    got = true;
  });
  wait_for_ticks(rt, 20);
  got_early = got.load();
  stop = true;
  high.join();
  middle.join();
  low.join();
  EXPECT_FALSE(got_early.load());
  EXPECT_TRUE(got.load());
}

std::vector<way> all_ways() {
  std::vector<way> ways;
  for (const char* policy : {"random_ws", "adws", "work_sharing"}) {
    ways.push_back({preemption::signal_yield, heddle::tls::carrier, policy});
    ways.push_back({preemption::signal_yield, heddle::tls::own, policy});
    ways.push_back({preemption::klt_switching, heddle::tls::carrier, policy});
  }
  return ways;
}

INSTANTIATE_TEST_SUITE_P(priority, techniques, testing::ValuesIn(all_ways()), [](const auto& info) {
  const way& w = info.param;
  return std::string(w.how == preemption::klt_switching ? "klt_" : w.storage == heddle::tls::own ? "own_tls_" : "signal_yield_") + w.policy;
});

// --- at once -------------------------------------------------------------------------------------------------------

class at_once : public testing::TestWithParam<preemption> {};

// The timer alone would take ten seconds a round.
heddle::runtime_options without_ticks(unsigned workers) {
  heddle::runtime_options o = options_for(workers);
  o.preempt_interval = 10s;
  return o;
}

TEST_P(at_once, low_threads_on_all_workers_make_room) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  heddle::runtime rt(without_ticks(2));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> there{0};
    std::atomic<bool> high_ran{false};
    std::vector<heddle::thread> low;
    for (int i = 0; i < 2; ++i) {
      low.emplace_back(in(rt, priority::low, GetParam()), [&] {
        there.fetch_add(1);
        wait_for(high_ran);
      });
    }
    while (there.load() < 2) {}
    heddle::thread(in(rt, priority::high), [&] { high_ran.store(true); }).join();
    for (auto& t : low) t.join();
  }
}

TEST_P(at_once, a_low_thread_makes_room_for_what_it_makes) {
  if (heddle_test::thread_sanitized) GTEST_SKIP() << "no preemption under ThreadSanitizer";
  heddle::runtime rt(without_ticks(1));
  heddle::thread(in(rt, priority::low, GetParam()), [&] {
    for (int round = 0; round < 20; ++round) {
      std::atomic<bool> high_ran{false};
      heddle::thread high(in(rt, priority::high), [&] { high_ran.store(true); });
      wait_for(high_ran);
      high.join();
    }
  }).join();
}

INSTANTIATE_TEST_SUITE_P(priority, at_once, testing::Values(preemption::signal_yield, preemption::klt_switching),
                         [](const auto& info) { return info.param == preemption::signal_yield ? "signal_yield" : "klt_switching"; });

}  // namespace
