// Constrained work stealing under programs that its record does not fit.
#include <heddle/iteration.hpp>
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/parallel_for.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "policy/registry.hpp"
#include "support/watchdog.hpp"

namespace constrained_ws_programs_test {
namespace {

TEST(constrained_ws_programs, of_several_runtimes_and_outside_threads_end) {
  heddle_test::watchdog guard("constrained_ws");
  heddle::runtime a({.workers = 3, .policy = "constrained_ws:relws=1"}),
      b({.workers = 2, .policy = "constrained_ws:replay=stuws,relws=0"});
  std::vector<std::thread> outside;
  for (int t = 0; t < 6; ++t) {
    outside.emplace_back([&, t] {
      heddle::runtime& rt = t % 2 == 0 ? a : b;
      for (int i = 0; i < 30; ++i) {
        std::atomic<int> ran{0};
        rt.run([&] {
          for (int k = 0; k < 2; ++k) {
            heddle::parallel_for(0, 32, [&](int) { ran.fetch_add(1); }, {.grain = 1});
            heddle::task_group group;
            for (int c = 0; c < 5; ++c)
              group.run([&] { heddle::parallel_invoke([&] { ran.fetch_add(1); }, [&] { ran.fetch_add(1); }); });
            group.wait();
          }
        });
        EXPECT_EQ(ran.load(), 84);
        guard.progress();
      }
    });
  }
  for (std::thread& t : outside) t.join();
}

// A task of an iteration makes a child in a group that was there before the iteration, and outlives it.
TEST(constrained_ws_programs, tasks_may_outlive_their_iteration) {
  heddle_test::watchdog guard("constrained_ws");
  for (const unsigned workers : {2u, 4u}) {
    heddle::runtime rt({.workers = workers, .policy = "constrained_ws:relws=1"});
    for (int i = 0; i < 20; ++i) {
      std::atomic<int> ran{0};
      rt.run([&] {
        heddle::task_group old;
        heddle::latch open(1);
        for (int k = 0; k < 3; ++k) {
          heddle::task_group group;
          for (int c = 0; c < 4; ++c) {
            group.run([&] {
              old.run([&] {
                open.wait();
                heddle::parallel_invoke([&] { ran.fetch_add(1); }, [&] { ran.fetch_add(1); });
              });
            });
          }
          group.wait();
        }
        open.count_down();
        old.wait();
      });
      ASSERT_EQ(ran.load(), 24);
      guard.progress();
    }
  }
}

// Tasks that wait for each other, by mutexes and latches, in another order than the recorded one.
TEST(constrained_ws_programs, waits_between_tasks_end) {
  heddle_test::watchdog guard("constrained_ws");
  for (const char* policy : {"constrained_ws:relws=0", "constrained_ws:relws=2"}) {
    heddle::runtime rt({.workers = 4, .policy = policy});
    rt.run([&] {
      for (int i = 0; i < 60; ++i) {
        std::vector<std::unique_ptr<heddle::latch>> done;
        for (int k = 0; k < 8; ++k) done.push_back(std::make_unique<heddle::latch>(1));
        heddle::mutex lock;
        int sum = 0;
        heddle::task_group group;
        for (int k = 0; k < 8; ++k) {
          group.run([&, k] {
            const int before = i % 2 == 0 ? k - 1 : k + 1;  // the chain turns round
            if (before >= 0 && before < 8) done[static_cast<std::size_t>(before)]->wait();
            {
              std::lock_guard hold(lock);
              heddle::parallel_invoke([] { heddle::this_thread::yield(); }, [] {});
              sum += k;
            }
            done[static_cast<std::size_t>(k)]->count_down();
          });
        }
        group.wait();
        ASSERT_EQ(sum, 28);
        guard.progress();
      }
    });
  }
}

TEST(constrained_ws_programs, floods_of_children_run_child_first) {
  heddle_test::watchdog guard("constrained_ws");
  for (const char* policy : {"constrained_ws:relws=0", "constrained_ws"}) {
    heddle::runtime rt({.workers = 2, .policy = policy});
    rt.run([&] {
      for (int i = 0; i < 8; ++i) {
        std::atomic<int> ran{0};
        heddle::task_group group;
        for (int k = 0; k < 5000; ++k) group.run([&] { ran.fetch_add(1); });
        group.wait();
        ASSERT_EQ(ran.load(), 5000);
        guard.progress();
      }
    });
  }
}

TEST(constrained_ws_programs, wrong_parameters_are_refused) {
  for (const char* text : {"constrained_ws:replay=strows", "constrained_ws:relws=-1", "constrained_ws:patience=x",
                           "constrained_ws:iterations=1"}) {
    EXPECT_THROW(heddle::policy::make(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace constrained_ws_programs_test
