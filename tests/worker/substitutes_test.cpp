// Tasks that wait in the kernel for what other tasks do (src/worker/carriers/substitutes.md). Each test hangs without
// substitutes, because every worker is in such a wait while the work that would end it is ready.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <heddle/heddle.hpp>

namespace heddle {
namespace substitutes_test {
namespace {

using namespace std::chrono_literals;

// Each of n children waits for a promise that its own child fulfils.
void promises(int n) {
  std::vector<std::promise<int>> all(static_cast<std::size_t>(n));
  std::atomic<int> sum{0};
  task_group outer;
  for (auto& p : all) {
    outer.run([&p, &sum] {
      std::future<int> result = p.get_future();
      task_group inner;
      inner.run([&p] { p.set_value(1); });
      sum += result.get();
      inner.wait();
    });
  }
  outer.wait();
  EXPECT_EQ(sum, n);
}

// The first half of a fork waits for the second.
void forks(int depth) {
  if (depth == 0) return;
  std::promise<void> done;
  parallel_invoke([&] { done.get_future().wait(); },
                  [&] {
                    forks(depth - 1);
                    done.set_value();
                  });
}

void a_condition_variable(int n) {
  std::mutex guard;
  std::condition_variable changed;
  int turn = 0;
  std::vector<jthread> all;
  for (int i = 0; i < n; ++i) {  // each waits for the one that is made after it
    all.emplace_back([&, i] {
      std::unique_lock hold(guard);
      changed.wait(hold, [&] { return turn == n - 1 - i; });
      ++turn;
      changed.notify_all();
    });
  }
  for (jthread& t : all) t.join();
  EXPECT_EQ(turn, n);
}

void pipes(int n) {
  for (int i = 0; i < n; ++i) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    char got = 0;
    task_group group;
    group.run([&] { EXPECT_EQ(write(ends[1], "x", 1), 1); });
    EXPECT_EQ(read(ends[0], &got, 1), 1);
    group.wait();
    EXPECT_EQ(got, 'x');
    close(ends[0]);
    close(ends[1]);
  }
}

void a_timer(int) {
  std::promise<void> due;
  jthread sleeps([&] {
    this_thread::sleep_for(2ms);
    due.set_value();
  });
  due.get_future().wait();
}

struct work {
  const char* name;
  void (*run)(int);
  int size;
};

class waits_in_the_kernel : public testing::TestWithParam<std::tuple<work, unsigned>> {};

TEST_P(waits_in_the_kernel, end) {
  const auto [what, workers] = GetParam();
  runtime home({.workers = workers});
  home.run([what] { what.run(what.size); });           // carried by this kernel thread
  async(home, [what] { what.run(what.size); }).get();  // by a worker's
  const int all = home.run([] { return parallel_reduce(0, 1000, 0, [](int) { return 1; }, std::plus<>()); });
  EXPECT_EQ(all, 1000);
}

INSTANTIATE_TEST_SUITE_P(, waits_in_the_kernel,
                         testing::Combine(testing::Values(work{"promises", promises, 12}, work{"forks", forks, 6},
                                                          work{"condition", a_condition_variable, 8},
                                                          work{"pipes", pipes, 3}, work{"timer", a_timer, 0}),
                                          testing::Values(1u, 2u, 3u)),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param).name) + "_" + std::to_string(std::get<1>(p.param));
                         });

// A thread from outside sends what the only worker waits for.
TEST(substitutes, run_what_comes_from_outside) {
  runtime home({.workers = 1});
  std::promise<void> waits, sent;
  std::thread outside([&] {
    waits.get_future().wait();
    async(home, [&] { sent.set_value(); }).get();
  });
  async(home, [&] {
    waits.set_value();
    sent.get_future().wait();
  }).get();
  outside.join();
}

#if !defined(__SANITIZE_THREAD__)
// Threads of other kinds, and all of them together.
TEST(substitutes, run_threads_of_each_kind) {
  runtime home({.workers = 2});
  std::vector<thread_options> kinds(3);
  kinds[1].tls = tls::own;
  kinds[2].preemption = preemption::klt_switching;
  for (thread_options& kind : kinds) kind.where = &home;
  constexpr int n = 12;
  std::vector<std::promise<void>> turns(n);
  std::vector<thread> all;
  try {
    for (int i = 0; i + 1 < n; ++i) {
      all.emplace_back(kinds[static_cast<std::size_t>(i) % kinds.size()], [&turns, i] {
        turns[static_cast<std::size_t>(i) + 1].get_future().wait();
        turns[static_cast<std::size_t>(i)].set_value();
      });
    }
    all.emplace_back(kinds[0], [&turns] { turns[n - 1].set_value(); });
    turns[0].get_future().wait();
  } catch (const std::system_error& e) {  // own storage cannot be had here
    turns[n - 1].set_value();
    std::printf("%s\n", e.what());
  }
  for (thread& t : all) t.join();
}

// The time slices of threads that sit in system calls alternate on one worker. The other one sits beside the work.
TEST(substitutes, are_not_kept_away_by_time_slices) {
  runtime home({.workers = 2});
  std::promise<void> done;
  const std::shared_future<void> waits = done.get_future().share();
  std::atomic<int> inside{0};
  std::vector<thread> all;
  for (int i = 0; i < 3; ++i) {
    all.emplace_back(thread_options{.where = &home, .preemption = preemption::klt_switching}, [&] {
      ++inside;
      waits.wait();
    });
  }
  all.emplace_back(thread_options{.where = &home}, [&] {
    while (inside < 3) this_thread::yield();
    task_group group;
    group.run([&] { done.set_value(); });
    waits.wait();
    group.wait();
  });
  for (thread& t : all) t.join();
  EXPECT_EQ(inside, 3);
}
#endif

// While a runtime's workers run, none of their threads is left with a substitute: as many as there are workers meet.
TEST(substitutes, give_threads_back) {
  runtime home({.workers = 2});
  for (int round = 0; round < 5; ++round) {
    home.run([] { promises(4); });
    std::atomic<int> here{0};
    home.run([&] {
      parallel_invoke(
          [&] {
            for (++here; here < 2;) this_thread::pause();
          },
          [&] {
            for (++here; here < 2;) this_thread::pause();
          });
    });
    EXPECT_EQ(here, 2);
  }
}

// In a process of its own, because the warning is given once a process.
TEST(substitutes_death_test, are_told_of_once_with_a_stack) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto body = [] {
    for (int i = 0; i < 2; ++i) {
      runtime home({.workers = 1});
      home.run([] { promises(3); });
    }
    _exit(0);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0),
              testing::AllOf(testing::HasSubstr("heddle: all 1 workers have been in system calls for 1000 us"),
                             testing::ContainsRegex("worker 0 runs thread [0-9]+"),
                             testing::Not(testing::ContainsRegex("system calls.*\n.*system calls for"))));
}

TEST(substitutes, can_be_switched_off) {
  EXPECT_THROW(runtime({.blocked_bound = 11s}), std::invalid_argument);
  runtime home({.workers = 1, .blocked_bound = 0ns});
  // Without substitutes the child cannot run before its maker waits.
  std::atomic<bool> ran{false};
  std::promise<void> release;
  std::atomic<bool> before{true};
  std::thread outside([&] {
    // by then a runtime with substitutes has lent one
    runtime other({.workers = 1});
    other.run([] { promises(2); });
    release.set_value();
  });
  home.run([&] {
    task_group group;
    group.run([&] { ran = true; });
    release.get_future().wait();
    before = ran.load();
    group.wait();
  });
  outside.join();
  EXPECT_FALSE(before);
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace substitutes_test
}  // namespace heddle
