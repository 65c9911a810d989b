// Loops by name: that every schedule has each iteration once, in the chunks that its name promises.
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/thread.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/watchdog.hpp"

namespace heddle {
namespace schedule_test {
namespace {

namespace by = heddle::schedule;

struct chunk {
  std::size_t low, high;
  int worker;
  friend bool operator<(const chunk& a, const chunk& b) { return a.low < b.low; }
};

// The chunks of a loop over [0, n), by their bounds.
std::vector<chunk> chunks_of(runtime& rt, std::size_t n, const loop_schedule& how) {
  std::vector<chunk> seen;
  std::mutex guard;
  const auto loop = [&] {
    parallel_for_range(std::size_t{0}, n,
                       [&](std::size_t low, std::size_t high) {
                         const int worker = rt.worker_rank();
                         const std::lock_guard hold(guard);
                         seen.push_back({low, high, worker});
                       },
                       {.schedule = how});
  };
  rt.run(loop);
  std::sort(seen.begin(), seen.end());
  return seen;
}

const loop_schedule all_schedules[] = {by::adaptive,
                                       by::fixed(),
                                       by::fixed(1),
                                       by::fixed(7),
                                       by::dynamic(),
                                       by::dynamic(5),
                                       by::guided(),
                                       by::guided(16),
                                       by::affinity,
                                       by::window(1),
                                       by::window(64),
                                       by::window(64, by::window_sharing::barrier),
                                       by::sliding_window(5),
                                       by::sliding_window(1000),
                                       by::window_automatic,
                                       by::fixed(std::numeric_limits<std::size_t>::max()),
                                       by::dynamic(std::numeric_limits<std::size_t>::max()),
                                       by::guided(std::numeric_limits<std::size_t>::max())};

class loop_schedules : public ::testing::TestWithParam<std::tuple<std::string, unsigned>> {
 protected:
  heddle_test::watchdog guard_{"loop_schedules"};
};

TEST_P(loop_schedules, have_every_iteration_once) {
  const auto& [policy, workers] = GetParam();
  runtime rt({.workers = workers, .policy = policy});
  for (const loop_schedule& how : all_schedules) {
    for (const std::size_t n : {0, 1, 2, 3, 7, 64, 1000, 10'007}) {
      std::vector<std::atomic<int>> ran(n);
      rt.run([&] { parallel_for(std::size_t{0}, n, [&](std::size_t i) { ++ran[i]; }, {.schedule = how}); });
      EXPECT_TRUE(std::all_of(ran.begin(), ran.end(), [](const auto& times) { return times == 1; }))
          << static_cast<int>(how.how) << ", chunk " << how.chunk << ", " << n;
      guard_.progress();
    }
  }
}

TEST_P(loop_schedules, throw_what_an_iteration_throws_and_drop_what_has_not_begun) {
  const auto& [policy, workers] = GetParam();
  runtime rt({.workers = workers, .policy = policy});
  constexpr int n = 100'000;
  for (const loop_schedule& how : {by::fixed(10), by::dynamic(10), by::guided(10), by::affinity, by::window(10),
                                   by::window(10, by::window_sharing::barrier), by::sliding_window(10)}) {
    std::atomic<int> ended{0};
    const auto loop = [&] {
      parallel_for(0, n,
                   [&](int i) {
                     if (i == 5) throw std::runtime_error("five");
                     ++ended;
                   },
                   {.schedule = how});
    };
    EXPECT_THROW(rt.run(loop), std::runtime_error) << static_cast<int>(how.how);
    EXPECT_LT(ended.load(), n);
    guard_.progress();
  }
}

INSTANTIATE_TEST_SUITE_P(policies, loop_schedules,
                         ::testing::Combine(::testing::Values("random_ws", "adws", "work_sharing", "serial"),
                                            ::testing::Values(1u, 2u, 3u, 4u, 8u)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::to_string(std::get<1>(info.param));
                         });

TEST(loop_schedule, fixed_is_one_part_for_each_worker) {
  runtime rt({.workers = 3});
  // A part may be called in several chunks ([named:4] of src/loop/README.md), none of which goes over its border.
  const std::vector<chunk> parts = chunks_of(rt, 11, by::fixed());
  for (const std::size_t border : {4u, 8u, 11u}) {
    EXPECT_EQ(std::count_if(parts.begin(), parts.end(), [border](const chunk& c) { return c.high == border; }), 1);
  }
  EXPECT_EQ(chunks_of(rt, 2, by::fixed()).size(), 2u);
}

TEST(loop_schedule, chunks_of_a_given_length_are_that_long) {
  runtime rt({.workers = 3});
  for (const loop_schedule& how : {by::fixed(4), by::dynamic(4)}) {
    const std::vector<chunk> parts = chunks_of(rt, 30, how);
    ASSERT_EQ(parts.size(), 8u);
    for (std::size_t k = 0; k < 8; ++k) {
      EXPECT_EQ(parts[k].low, 4 * k);
      EXPECT_EQ(parts[k].high, std::min<std::size_t>(4 * k + 4, 30));
    }
  }
}

TEST(loop_schedule, guided_chunks_shrink_to_the_least) {
  runtime rt({.workers = 4});
  const std::vector<chunk> parts = chunks_of(rt, 1000, by::guided(10));
  EXPECT_EQ(parts.front().high, 125u);  // 1000 over twice four
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::size_t left = 1000 - parts[k].low;
    EXPECT_EQ(parts[k].high - parts[k].low, std::min(left, std::max<std::size_t>(10, left / 8)));
  }
}

TEST(loop_schedule, affinity_has_the_k_th_part_on_the_k_th_worker) {
  runtime rt({.workers = 4});
  for (int loop = 0; loop < 50; ++loop) {
    const std::vector<chunk> parts = chunks_of(rt, 1000, by::affinity);
    ASSERT_EQ(parts.size(), 4u);
    for (int k = 0; k < 4; ++k) EXPECT_EQ(parts[static_cast<std::size_t>(k)].worker, k) << "loop " << loop;
  }
}

// The runtime's schedule is for loops that name none and no grain; loops that are over at once stay as they are.
TEST(loop_schedule, of_the_runtime_is_for_loops_that_name_none) {
  runtime rt({.workers = 3, .loop = by::fixed()});
  const auto chunks_by = [&](const loop_options& options) {
    std::atomic<int> chunks{0};
    rt.run([&] {
      parallel_for_range(
          0, 999,
          [&](int low, int high) {
            ++chunks;
            for (volatile int k = 0; k < 1000 * (high - low);) k = k + 1;
          },
          options);
    });
    return chunks.load();
  };
  EXPECT_LT(chunks_by({}), 111);  // three parts, called in batches
  EXPECT_EQ(chunks_by({.schedule = by::dynamic(9)}), 111);
  EXPECT_GE(chunks_by({.grain = 10}), 999 / 20);
}

TEST(loop_schedule, an_impossible_one_in_the_environment_is_named) {
  for (const char* text : {"statik", "dynamic,", "dynamic,x", "dynamic,0", "guided,-1", "affinity,4", "adaptive,1",
                           "window", "window,0", "sliding_window", "window_barrier,", "window_automatic,4"}) {
    ::setenv("HEDDLE_LOOP", text, 1);
    try {
      runtime rt({.workers = 1});
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("HEDDLE_LOOP=" + std::string(text)));
    }
  }
  for (const char* text : {"guided,8", "window,8", "window_barrier,8", "sliding_window,8", "window_automatic"}) {
    ::setenv("HEDDLE_LOOP", text, 1);
    EXPECT_NO_THROW(runtime({.workers = 1})) << text;
  }
  ::unsetenv("HEDDLE_LOOP");
}

// Iterations wait for their neighbours: each is on a member of its own.
TEST(loop_schedule, iterations_may_wait_for_those_of_other_seats) {
  heddle_test::watchdog guard("loop_schedule");
  runtime rt({.workers = 2});
  for (const loop_schedule& how : {by::fixed(), by::fixed(1), by::dynamic(), by::affinity}) {
    for (int round = 0; round < 100; ++round) {
      semaphore first(0), second(0);
      rt.run([&] {
        parallel_for(0, 2,
                     [&](int i) {
                       (i == 0 ? second : first).release();
                       (i == 0 ? first : second).acquire();
                     },
                     {.schedule = how});
      });
      guard.progress();
    }
  }
}

TEST(loop_schedule, a_request_to_stop_is_seen_between_chunks) {
  runtime rt({.workers = 2});
  for (const loop_schedule& how : {by::fixed(1), by::dynamic(), by::guided()}) {
    std::stop_source stop;
    std::atomic<int> ran{0};
    rt.run([&] {
      parallel_for(0, 1'000'000,
                   [&](int) {
                     ++ran;
                     stop.request_stop();
                   },
                   {.stop = stop.get_token(), .schedule = how});
    });
    EXPECT_GE(ran.load(), 1);
    EXPECT_LT(ran.load(), 1'000'000);
  }
}

TEST(loop_schedule, foreign_threads_and_nested_loops_have_schedules_too) {
  heddle_test::watchdog guard("loop_schedule");
  std::vector<std::thread> callers;
  std::atomic<long> sum{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&sum] {
      for (int round = 0; round < 20; ++round) {
        parallel_for(0, 10,
                     [&](int i) {
                       parallel_for(0, 100, [&](int j) { sum += i * j; },
                                    {.schedule = round % 2 == 0 ? by::affinity : by::guided(3)});
                     },
                     {.schedule = by::dynamic(2)});
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum.load(), 4L * 20 * 45 * 4950);
}

}  // namespace
}  // namespace schedule_test
}  // namespace heddle
