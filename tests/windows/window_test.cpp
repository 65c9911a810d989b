// Loops with windows for a shared cache: that iterations which run are no farther apart than the window, whatever the
// workers and the policy, and that nobody waits for ever.
#include <heddle/box.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/runtime.hpp>
#include <heddle/semaphore.hpp>
#include <heddle/task_group.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/runtimes.hpp"
#include "tests/support/watchdog.hpp"
#include "windows/caches.hpp"

namespace heddle {
namespace window_test {
namespace {

namespace by = heddle::schedule;

constexpr std::size_t endless = std::numeric_limits<std::size_t>::max();
const loop_schedule windows[] = {by::window(1),
                                 by::window(7),
                                 by::window(100),
                                 by::window(endless),
                                 by::window(1, by::window_sharing::barrier),
                                 by::window(30, by::window_sharing::barrier),
                                 by::sliding_window(1),
                                 by::sliding_window(2),
                                 by::sliding_window(50),
                                 by::sliding_window(endless),
                                 by::window_automatic};

std::string shown(const loop_schedule& how, std::size_t n) {
  return "kind " + std::to_string(static_cast<int>(how.how)) + ", window " + std::to_string(how.chunk) + ", n " +
         std::to_string(n);
}

// Whether each iteration has ended, and whether one began too early.
class observed_loop {
 public:
  // Iterations of [low, high) that are `length` apart; for others one begins anew at each of `cuts`.
  observed_loop(std::size_t n, std::vector<std::size_t> cuts) : ended_(n), cuts_(std::move(cuts)) {}

  void run(std::size_t i, const loop_schedule& how) {
    const std::size_t begin = *std::prev(std::upper_bound(cuts_.begin(), cuts_.end(), i)), k = i - begin;
    const std::size_t m = how.chunk;
    // All before this must have ended: the windows before, or what is m iterations behind.
    const std::size_t needed = how.how == loop_schedule::kind::sliding_window ? (k >= m ? k - m + 1 : 0) : k / m * m;
    for (std::size_t j = begin; j < begin + needed; ++j) {
      if (ended_[j].load() == 0) ++early_;
    }
    ++ended_[i];
  }
  int early() const { return early_.load(); }
  bool each_ran_once() const {
    return std::all_of(ended_.begin(), ended_.end(), [](const auto& times) { return times == 1; });
  }

 private:
  std::vector<std::atomic<int>> ended_;
  const std::vector<std::size_t> cuts_;
  std::atomic<int> early_{0};
};

class loop_windows : public heddle_test::over_runtimes {
 protected:
  heddle_test::watchdog guard_{"loop_windows"};
};

TEST_P(loop_windows, have_every_iteration_once) {
  for (const loop_schedule& how : windows) {
    for (const std::size_t n : {1, 2, 5, 64, 150}) {
      std::vector<std::atomic<int>> ran(n);
      run([&] { parallel_for(std::size_t{0}, n, [&](std::size_t i) { ++ran[i]; }, {.schedule = how}); });
      EXPECT_TRUE(std::all_of(ran.begin(), ran.end(), [](const auto& times) { return times == 1; })) << shown(how, n);
    }
    guard_.progress();
  }
}

// Each waits for the one before, so that only one can run at any time; whoever has none to run must leave its worker to
// others.
TEST_P(loop_windows, iterations_may_wait_for_those_before_them) {
  constexpr std::size_t n = 60;
  for (const loop_schedule& how : windows) {
    if (how == by::window_automatic) continue;  // an adaptive loop, if it so chooses
    std::vector<std::unique_ptr<semaphore>> turns;
    for (std::size_t i = 0; i <= n; ++i) turns.push_back(std::make_unique<semaphore>(0));
    turns[0]->release();
    std::vector<std::size_t> order;
    run([&] {
      parallel_for(std::size_t{0}, n,
                   [&](std::size_t i) {
                     turns[i]->acquire();
                     order.push_back(i);
                     turns[i + 1]->release();
                   },
                   {.schedule = how});
    });
    ASSERT_EQ(order.size(), n) << shown(how, n);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    guard_.progress();
  }
}

TEST_P(loop_windows, throw_what_an_iteration_throws_and_begin_no_window_after_it) {
  constexpr std::size_t n = 5000;
  for (const loop_schedule& how : windows) {
    if (how == by::window_automatic) continue;
    for (const std::size_t thrower : {std::size_t{0}, std::size_t{61}}) {
      std::atomic<std::size_t> last{0};
      const auto loop = [&] {
        parallel_for(std::size_t{0}, n,
                     [&](std::size_t i) {
                       if (i == thrower) throw std::runtime_error("thrown");
                       for (std::size_t seen = last; seen < i && !last.compare_exchange_weak(seen, i);) {
                       }
                     },
                     {.schedule = how});
      };
      EXPECT_THROW(run(loop), std::runtime_error) << shown(how, n);
      if (how.chunk <= 100) {  // one cache, or none is known
        EXPECT_LT(last.load(), thrower + 200) << shown(how, n);
      }
      guard_.progress();
    }
  }
}

TEST_P(loop_windows, end_when_asked_to) {
  constexpr std::size_t n = 100'000;
  for (const loop_schedule& how :
       {by::window(10), by::window(10, by::window_sharing::barrier), by::sliding_window(10)}) {
    std::stop_source stop;
    std::atomic<int> ran{0};
    run([&] {
      parallel_for(std::size_t{0}, n,
                   [&](std::size_t) {
                     ++ran;
                     stop.request_stop();
                   },
                   {.stop = stop.get_token(), .schedule = how});
    });
    EXPECT_GE(ran.load(), 1);
    EXPECT_LT(ran.load(), 1000) << shown(how, n);
    guard_.progress();
  }
}

HEDDLE_OVER_RUNTIMES(loop_windows);

struct setting {
  unsigned workers;
  const char* machine;
  std::vector<std::size_t> parts;  // where the range of each cache begins, in twelfths
};

class loop_windows_on : public ::testing::TestWithParam<setting> {};

// On machines with one shared cache, two, and none. Iterations take different times, so that some lag behind.
TEST_P(loop_windows_on, no_iteration_begins_before_the_window_has_come_to_it) {
  heddle_test::watchdog guard("loop_windows_on");
  runtime rt({.workers = GetParam().workers, .machine = GetParam().machine});
  for (const loop_schedule& how :
       {by::window(1), by::window(10), by::window(64), by::window(10, by::window_sharing::barrier),
        by::sliding_window(1), by::sliding_window(3), by::sliding_window(10), by::sliding_window(100)}) {
    for (const std::size_t n : {12, 240, 1200}) {
      std::vector<std::size_t> cuts;
      for (const std::size_t twelfth : GetParam().parts) cuts.push_back(n * twelfth / 12);
      observed_loop seen(n, cuts);
      rt.run([&] {
        parallel_for(std::size_t{0}, n,
                     [&](std::size_t i) {
                       for (volatile std::size_t k = 0; k < (i * 7919 % 64 == 0 ? 20'000u : 10u);) k = k + 1;
                       seen.run(i, how);
                     },
                     {.schedule = how});
      });
      EXPECT_EQ(seen.early(), 0) << shown(how, n);
      EXPECT_TRUE(seen.each_ran_once()) << shown(how, n);
      guard.progress();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    machines, loop_windows_on,
    ::testing::Values(setting{1, "synthetic:l3:1(size=8388608) l2:4(size=262144) core:1 pu:1", {0}},
                      setting{2, "synthetic:l3:1(size=8388608) l2:4(size=262144) core:1 pu:1", {0}},
                      setting{3, "synthetic:l3:1(size=8388608) l2:4(size=262144) core:1 pu:1", {0}},
                      setting{4, "synthetic:l3:1(size=8388608) l2:4(size=262144) core:1 pu:1", {0}},
                      setting{4, "synthetic:pack:2 l3:1(size=8388608) l2:2(size=262144) core:1 pu:1", {0, 6}},
                      setting{3, "synthetic:pack:3 l3:1(size=8388608) l2:1(size=262144) core:1 pu:1", {0}},
                      setting{8, "synthetic:pack:2 l3:1(size=8388608) l2:4(size=262144) core:1 pu:1", {0, 6}},
                      setting{4, "synthetic:pack:2 l2:2(size=1048576) core:1 pu:1", {0}}));

TEST(loop_window, barriers_keep_each_part_on_its_worker) {
  runtime rt({.workers = 4, .machine = "synthetic:pack:2 l3:1(size=8388608) l2:2(size=262144) core:1 pu:1"});
  constexpr std::size_t n = 400, m = 20;
  std::vector<int> worker(n, -1);
  for (int round = 0; round < 10; ++round) {
    rt.run([&] {
      parallel_for(std::size_t{0}, n, [&](std::size_t i) { worker[i] = rt.worker_rank(); },
                   {.schedule = by::window(m, by::window_sharing::barrier)});
    });
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t within = i % (n / 2);
      ASSERT_EQ(worker[i], static_cast<int>(i / (n / 2) * 2 + within % m / (m / 2))) << i;
    }
  }
}

// The first iteration waits for a task that has no worker unless those who wait for the window give one up.
TEST(loop_window, whoever_waits_for_a_window_leaves_its_worker_to_others) {
  heddle_test::watchdog guard("loop_window");
  for (const unsigned workers : {1u, 2u, 4u}) {
    runtime rt({.workers = workers});
    for (const loop_schedule& how :
         {by::window(4), by::window(4, by::window_sharing::barrier), by::sliding_window(4)}) {
      for (int round = 0; round < 20; ++round) {
        semaphore done(0);
        std::atomic<int> ran{0};
        rt.run([&] {
          task_group group;
          parallel_for(0, 40,
                       [&](int i) {
                         if (i == 0) {
                           for (unsigned k = 0; k < 8; ++k) group.run([&] { done.release(); });
                           for (unsigned k = 0; k < 8; ++k) done.acquire();
                         }
                         ++ran;
                       },
                       {.schedule = how});
          group.wait();
        });
        EXPECT_EQ(ran.load(), 40);
        guard.progress();
      }
    }
  }
}

TEST(loop_window, of_foreign_threads_and_in_each_other) {
  heddle_test::watchdog guard("loop_window");
  std::vector<std::thread> callers;
  std::atomic<long> sum{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        const loop_schedule inner[] = {by::window(9), by::window(9, by::window_sharing::barrier), by::sliding_window(9),
                                       by::window_automatic};
        parallel_for(0, 10,
                     [&](int i) { parallel_for(0, 100, [&](int j) { sum += i * j; }, {.schedule = inner[round % 4]}); },
                     {.schedule = round % 2 == 0 ? by::sliding_window(4) : by::window(4)});
        guard.progress();
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum.load(), 4L * 10 * 45 * 4950);
}

TEST(loop_window, of_boxes_and_of_the_runtime) {
  runtime rt({.workers = 3, .loop = by::sliding_window(8)});
  std::vector<std::atomic<int>> ran(900);
  rt.run([&] {
    parallel_for(box({0, 30}, {0, 30}), [&](std::size_t i, std::size_t j) { ++ran[i * 30 + j]; },
                 {.tile = {3, 10}, .schedule = by::sliding_window(5)});
    parallel_for(0, 900, [&](int i) { ++ran[static_cast<std::size_t>(i)]; });
  });
  EXPECT_TRUE(std::all_of(ran.begin(), ran.end(), [](const auto& times) { return times == 2; }));
}

// More iterations than a member's word can tell apart: they are counted in several.
TEST(loop_window, a_range_of_more_than_two_to_the_32) {
  runtime rt({.workers = 2});
  for (const loop_schedule& how : {by::window(std::size_t{1} << 31), by::sliding_window(std::size_t{1} << 30)}) {
    constexpr std::size_t n = (std::size_t{1} << 33) + 12345;
    std::mutex guard;
    std::vector<std::pair<std::size_t, std::size_t>> chunks;
    rt.run([&] {
      parallel_for_range(std::size_t{0}, n,
                         [&](std::size_t low, std::size_t high) {
                           const std::lock_guard hold(guard);
                           chunks.emplace_back(low, high);
                         },
                         {.schedule = how});
    });
    std::sort(chunks.begin(), chunks.end());
    std::size_t at = 0;
    for (const auto& [low, high] : chunks) {
      ASSERT_EQ(low, at);
      at = high;
    }
    EXPECT_EQ(at, n);
  }
}

// --- the choice --------------------------------------------------------------------------------------------------

using detail::loop_cache;
constexpr std::uint64_t mib = 1 << 20;

std::size_t chosen(std::size_t n, std::size_t bytes, std::vector<loop_cache> caches) {
  detail::window_choice site;
  return site.choose(n, bytes, caches).length;
}

TEST(loop_window, automatic_gives_a_window_an_eighth_of_the_cache) {
  EXPECT_EQ(chosen(1'000'000, 1024, {{0, 4, 8 * mib, 64}}), 1024u);
  EXPECT_EQ(chosen(1'000'000, 1024, {{0, 4, 8 * mib, 64}, {4, 4, 4 * mib, 64}}), 512u) << "the smallest of several";
  EXPECT_EQ(chosen(1000, 256 * 1024, {{0, 4, 8 * mib, 64}}), 8u) << "two iterations for each worker, at least";
}

TEST(loop_window, automatic_has_no_window_where_it_gains_nothing) {
  EXPECT_EQ(chosen(1'000'000, 1024, {{0, 4, 0, 0}}), 0u) << "no cache is shared";
  EXPECT_EQ(chosen(1'000'000, 0, {{0, 4, 8 * mib, 64}}), 0u) << "nothing is known";
  EXPECT_EQ(chosen(8192, 1024, {{0, 4, 8 * mib, 64}}), 0u) << "all of it fits";
  EXPECT_EQ(chosen(1000, mib, {{0, 4, 8 * mib, 64}}), 0u) << "eight iterations are all of the cache";
}

}  // namespace
}  // namespace window_test
}  // namespace heddle
