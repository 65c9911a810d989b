// The end of a runtime seen from elsewhere: on a thread of another
// runtime, before the join of its threads, beside fork().
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "support/forked.hpp"
#include "support/runtimes.hpp"

namespace lifetime_test {
namespace {

heddle::runtime_options one_worker() { return {.workers = 1, .bind = "off"}; }

heddle::thread on(heddle::runtime& home, auto f) {
  heddle::thread_options options;
  options.where = &home;
  return heddle::thread(options, std::move(f));
}

// The runtime that ends waits for a thread of its own. Its thread waits for a thread of the runtime on which it is
// ended, which has one worker.
TEST(ends_of_runtimes, on_another_runtime_hold_up_no_worker) {
  heddle::runtime outer(one_worker());
  bool opened = false;
  outer.run([&] {
    heddle::latch gate(1);
    heddle::thread opens([&] {
      opened = true;
      gate.count_down();
    });
    {
      heddle::runtime inner(one_worker());
      on(inner, [&] { gate.wait(); }).detach();
    }
    opens.join();
  });
  EXPECT_TRUE(opened);
}

TEST(ends_of_runtimes, threads_may_be_joined_afterwards) {
  std::atomic<int> ran{0};
  std::vector<heddle::thread> threads;
  {
    heddle::runtime home(one_worker());
    for (int i = 0; i < 100; ++i) threads.push_back(on(home, [&] { ++ran; }));
  }
  EXPECT_EQ(ran.load(), 100);
  for (heddle::thread& t : threads) EXPECT_NE(t.id(), 0u);
  heddle::runtime other(one_worker());  // where the old one was, perhaps
  for (int i = 0; i < 25; ++i) threads[i].join();
  for (int i = 25; i < 50; ++i) threads[i].detach();
  other.run([&] {
    for (int i = 50; i < 75; ++i) threads[i].join();
    for (int i = 75; i < 100; ++i) threads[i].detach();
  });
}

TEST(ends_of_runtimes, threads_may_be_joined_meanwhile) {
  for (int round = 0; round < 50 * heddle_test::stress(); ++round) {
    auto home = std::make_unique<heddle::runtime>(one_worker());
    heddle::thread first = on(*home, [] {}), second = on(*home, [] {});
    std::thread joins([&] { first.join(); });
    home.reset();
    second.join();
    joins.join();
  }
}

// The child of a fork() at any moment of the making of the global runtime makes its own.
TEST(forks, beside_the_making_of_the_global_runtime) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  for (int round = 0; round < 10 * heddle_test::stress(); ++round) {
    const pid_t outer = fork();
    if (outer == 0) {
      std::atomic<bool> begun{false};
      std::thread makes([&] {
        begun = true;
        heddle::runtime::global();
      });
      while (!begun) {
      }
      for (int i = 0; i < round * 1000; ++i) begun = true;  // some time passes
      const pid_t inner = fork();
      if (inner == 0) {
        alarm(20);
        int x = 0;
        heddle::thread([&] { x = 1; }).join();
        _exit(x == 1 ? 0 : 1);
      }
      int status = 0;
      waitpid(inner, &status, 0);
      makes.join();
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
    }
    int status = 0;
    waitpid(outer, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round << ", status " << status;
  }
}

// Levels are inherited under a lock of the process, which another kernel thread may have at the fork.
TEST(forks, beside_threads_that_inherit_levels) {
  if (heddle_test::sanitized) GTEST_SKIP() << "a sanitizer's threads do not survive the fork";
  const auto contend = [](heddle::runtime& where, const std::atomic<bool>& stop, int rounds) {
    heddle::mutex m;
    where.run([&] {
      std::vector<heddle::thread> all;
      for (int i = 0; i < 6; ++i) {
        heddle::thread_options o;
        if (i % 2 != 0) o.priority = heddle::priority::high;
        all.emplace_back(o, [&] {
          for (int k = 0; k != rounds && !stop.load(); ++k) {
            const std::lock_guard hold(m);
            heddle::this_thread::yield();
          }
        });
      }
      for (auto& t : all) t.join();
    });
  };
  const heddle::runtime_options o{.workers = 2, .bind = "off"};
  heddle::runtime rt(o);
  std::atomic<bool> stop{false};
  std::thread beside([&] { contend(rt, stop, -1); });
  for (int n = 0; n < 20; ++n) {
    const int status = heddle_test::in_child([&] {  // it is killed if it hangs
      const std::atomic<bool> never{false};
      heddle::runtime own(o);
      contend(own, never, 20);
    });
    EXPECT_EQ(status, 0) << "child " << n;
  }
  stop.store(true);
  beside.join();
}

}  // namespace
}  // namespace lifetime_test
