// Threads that leave their worker, or begin at another one, because its processor is wanted: [wake:5] and [wake:6] of
// src/sync/sleep.md.
#include <heddle/detail/crowd.hpp>
#include <heddle/pause.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "platform/platform.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/parker.hpp"
#include "worker/worker.hpp"

namespace elsewhere_test {
namespace {

using heddle::detail::go_elsewhere;

class elsewhere : public testing::TestWithParam<unsigned> {
 protected:
  void wait_until_another_sleeps() {
    const int here = rt_.worker_rank();
    for (unsigned r = 0;; r = (r + 1) % rt_.workers()) {
      if (static_cast<int>(r) != here && rt_.core().at(r).parker.look() == heddle::worker::parker::state::asleep)
        return;
      heddle_pause();
    }
  }

  heddle_test::watchdog watchdog_{"a thread that leaves its worker"};
  heddle::runtime rt_{{.workers = GetParam()}};
};

// The sleeper may have been woken since by another worker, and the one that is asked may be too late: the thread goes
// on where it was then. If it never went the watchdog would say so.
TEST_P(elsewhere, a_thread_goes_on_at_a_worker_that_slept) {
  heddle::thread({.where = &rt_}, [&] {
    for (int went = 0; went < 20 * heddle_test::stress();) {
      wait_until_another_sleeps();
      const int before = rt_.worker_rank();
      const bool asked = go_elsewhere();
      if (rt_.worker_rank() == before) continue;
      EXPECT_TRUE(asked);
      ++went;
      watchdog_.progress();
    }
  }).join();
}

// Threads that come while the worker leaves the inbox to the other one are still run.
TEST_P(elsewhere, nothing_is_left_behind) {
  std::atomic<int> ran{0};
  heddle::thread({.where = &rt_}, [&] {
    for (int round = 0; round < 50 * heddle_test::stress(); ++round) {
      wait_until_another_sleeps();
      std::thread outside([&] { heddle::thread({.where = &rt_}, [&] { ++ran; }).join(); });
      static_cast<void>(go_elsewhere());
      heddle::thread inside([&] { ++ran; });
      inside.join();
      while (ran.load() != 2 * (round + 1)) heddle::this_thread::yield();
      outside.join();
      watchdog_.progress();
    }
  }).join();
}

TEST_P(elsewhere, not_where_it_belongs_to_its_worker) {
  heddle::thread({.where = &rt_, .worker = 0}, [&] {
    wait_until_another_sleeps();
    EXPECT_FALSE(go_elsewhere());
    EXPECT_EQ(rt_.worker_rank(), 0);
  }).join();
}

TEST(elsewhere_at_all, not_if_nobody_sleeps) {
  heddle::runtime rt({.workers = 1});
  EXPECT_FALSE(rt.run([] { return go_elsewhere(); }));
}

// The worker is with a caller to the caller then.
TEST(elsewhere_at_all, not_in_a_call_from_outside) {
  heddle::runtime rt({.workers = 2});
  rt.run([&] {
    if (rt.core().at(static_cast<unsigned>(rt.worker_rank())).caller_run.own_carrier != nullptr) {
      EXPECT_FALSE(go_elsewhere());
    }
  });
}

TEST(elsewhere_at_all, not_from_outside) { EXPECT_FALSE(go_elsewhere()); }

// The kernel thread looks for what it has submitted, on the processor of one of the workers, which both sleep.
TEST(elsewhere_at_all, what_comes_from_a_busy_processor_begins_at_another) {
  heddle_test::watchdog watchdog("a thread from a busy processor");
  heddle::runtime rt({.workers = 2});
  const auto sleeps = [&](unsigned r) {
    return rt.core().at(r).parker.look() == heddle::worker::parker::state::asleep;
  };
  if (rt.core().at(0).processing_unit < 0 || rt.core().at(0).processing_unit == rt.core().at(1).processing_unit)
    GTEST_SKIP() << "the workers have no processors of their own";
  for (int round = 0; round < 20 * heddle_test::stress(); ++round) {
    const int beside = round % 2;
    std::thread([&] {
      ASSERT_TRUE(heddle::platform::bind_self(rt.core().at(static_cast<unsigned>(beside)).processing_unit));
      while (!sleeps(0) || !sleeps(1)) heddle_pause();
      std::atomic<int> began_at{-1};
      heddle::thread submitted({.where = &rt}, [&] { began_at = rt.worker_rank(); });
      while (began_at.load() < 0) heddle_pause();
      EXPECT_EQ(began_at.load(), 1 - beside) << "round " << round;
      submitted.join();
    }).join();
    watchdog.progress();
  }
}

INSTANTIATE_TEST_SUITE_P(workers, elsewhere, testing::Values(2U, 3U, 8U),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace elsewhere_test
