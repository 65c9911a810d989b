// Whom a kernel thread from outside wakes: [wake:5] of src/sync/sleep.md.
#include <heddle/pause.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <sched.h>

#include <atomic>
#include <thread>

#include "support/watchdog.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace {

bool stay_on(int unit) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(unit), &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

void wait_until_all_sleep(heddle::worker::runtime& core) {
  for (unsigned r = 0; r < core.workers(); ++r) {
    while (core.at(r).token.look() != heddle::worker::token::state::asleep) std::this_thread::yield();
  }
}

class outsider : public testing::Test {
 protected:
  void SetUp() override {
    if (rt_.workers() < 2 || core().at(0).processing_unit < 0) GTEST_SKIP() << "needs two workers that are bound";
  }
  heddle::worker::runtime& core() { return rt_.core(); }

  heddle_test::watchdog watchdog_{"a wake-up from outside"};
  heddle::runtime rt_{{.workers = 2, .bind = "on"}};
};

TEST_F(outsider, finds_the_worker_of_its_own_processor) {
  for (unsigned r = 0; r < 2; ++r) {
    int found = -2;
    std::thread([&] {
      if (stay_on(core().at(r).processing_unit)) found = core().rank_here();
    }).join();
    EXPECT_EQ(found, static_cast<int>(r));
  }
}

// Who submits goes on computing where it is, so the worker of that processor would not come to it.
TEST_F(outsider, wakes_the_worker_of_another_processor) {
  for (unsigned r = 0; r < 2; ++r) {
    std::thread([&, r] {
      ASSERT_TRUE(stay_on(core().at(r).processing_unit));
      for (int round = 0; round < 20; ++round) {
        wait_until_all_sleep(core());
        watchdog_.progress();
        std::atomic<int> ran_on{-1};
        heddle::thread t({.where = &rt_}, [&] { ran_on = rt_.worker_rank(); });
        while (ran_on < 0) heddle_pause();
        t.join();
        EXPECT_EQ(ran_on.load(), static_cast<int>(1 - r)) << "round " << round;
      }
    }).join();
  }
}

}  // namespace
