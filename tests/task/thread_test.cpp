// thread: creation, join, detach, yield; sizes, names, ids; foreign use.
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"

namespace {

class threads : public heddle_test::over_runtimes {};

TEST_P(threads, join_sees_the_effects) {
  run([] {
    int value = 0;
    for (int i = 1; i <= 1000; ++i) {
      heddle::thread t([&] { value = i; });
      t.join();
      ASSERT_EQ(value, i);
      ASSERT_FALSE(t.joinable());
    }
  });
}

TEST_P(threads, many_at_a_time) {
  run([] {
    std::atomic<int> sum{0};
    std::vector<heddle::thread> all;
    for (int i = 0; i < 1000; ++i) all.emplace_back([&] { ++sum; });
    for (auto& t : all) t.join();
    EXPECT_EQ(sum.load(), 1000);
  });
}

TEST_P(threads, yield_lets_others_run) {
  run([] {
    std::array<int, 4> progress{};
    std::vector<heddle::thread> all;
    std::atomic<bool> stop{false};
    all.emplace_back([&] {
      while (!stop.load()) heddle::this_thread::yield();
    });
    all.emplace_back([&] {
      for (int i = 0; i < 100; ++i) heddle::this_thread::yield();
      stop = true;
    });
    for (auto& t : all) t.join();
    EXPECT_TRUE(stop.load());
    static_cast<void>(progress);
  });
}

TEST_P(threads, detached_threads_end_before_the_runtime) {
  static std::atomic<int> done{0};
  done = 0;
  {
    heddle::runtime own({.workers = std::get<0>(GetParam())});
    own.run([] {
      for (int i = 0; i < 100; ++i) {
        heddle::thread t([] {
          heddle::this_thread::yield();
          ++done;
        });
        t.detach();
      }
    });
  }
  EXPECT_EQ(done.load(), 100);
}

TEST_P(threads, ids_are_unique_among_the_living) {
  run([] {
    std::vector<heddle::thread> all;
    std::set<std::uint64_t> ids;
    std::atomic<bool> go{false};
    for (int i = 0; i < 50; ++i) {
      all.emplace_back([&] {
        while (!go.load()) heddle::this_thread::yield();
      });
      ids.insert(all.back().id());
    }
    EXPECT_EQ(ids.size(), 50u);
    EXPECT_EQ(ids.count(0), 0u);
    go = true;
    for (auto& t : all) t.join();
  });
}

TEST_P(threads, stacks_of_any_size) {
  run([] {
    for (std::size_t size : {std::size_t{1}, std::size_t{16384}, std::size_t{100000}, std::size_t{64} << 20}) {
      std::size_t touched = 0;
      heddle::thread t({.stack_size = size}, [&] {
        volatile char here[2000];
        here[0] = 1;
        touched = sizeof here;
      });
      t.join();
      EXPECT_EQ(touched, 2000u);
    }
    EXPECT_THROW(heddle::thread({.stack_size = std::size_t{1} << 50}, [] {}), std::system_error);
  });
}

TEST_P(threads, foreign_threads_make_and_join) {
  std::atomic<int> done{0};
  std::vector<std::thread> foreign;
  for (int i = 0; i < 4; ++i) {
    foreign.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        heddle::thread t({.where = &runtime()}, [&] { ++done; });
        t.join();
      }
    });
  }
  for (auto& t : foreign) t.join();
  EXPECT_EQ(done.load(), 400);
}

HEDDLE_OVER_RUNTIMES(threads);

TEST(threads_misuse, join_twice_is_an_error) {
  heddle::thread t([] {});
  t.join();
  EXPECT_THROW(t.join(), std::system_error);
  EXPECT_THROW(t.detach(), std::system_error);
}

}  // namespace
