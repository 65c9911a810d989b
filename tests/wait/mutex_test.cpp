// mutex: exclusion, time limits, fairness, destruction; threads of both kinds, of one runtime and of two.
#include <heddle/latch.hpp>
#include <heddle/mutex.hpp>
#include <heddle/sleep.hpp>

#include <atomic>
#include <mutex>

#include "support/waiting.hpp"
#include "tests/wait/last_holder.hpp"

namespace mutex_test {
namespace {

using namespace std::chrono_literals;

class mutexes : public heddle_test::waiting {};

TEST_P(mutexes, excludes) {
  heddle::mutex m;
  long sum = 0;
  const int each = 2000 * heddle_test::stress();
  together(6, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < each; ++k) {
      std::lock_guard hold(m);
      const long before = sum;
      if (c.below(64) == 0) heddle::this_thread::yield();  // suspends inside the critical section
      sum = before + 1;
    }
    progress();
  });
  EXPECT_EQ(sum, 8L * each);
}

TEST_P(mutexes, try_lock_never_waits) {
  heddle::mutex m;
  run([&] {
    ASSERT_TRUE(m.try_lock());
    EXPECT_FALSE(m.try_lock());
    heddle::thread other([&] { EXPECT_FALSE(m.try_lock()); });
    other.join();
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST_P(mutexes, a_time_limit_ends_the_wait_and_leaves_the_lock_usable) {
  heddle::mutex m;
  m.lock();
  together(3, 2, [&](int i) {
    if (i % 2 == 0) EXPECT_FALSE(m.try_lock_for(1ms));
    else EXPECT_FALSE(m.try_lock_until(std::chrono::system_clock::now() + 1ms));
    EXPECT_FALSE(m.try_lock_for(-1s));
    EXPECT_FALSE(m.try_lock_until(std::chrono::steady_clock::time_point{}));
  });
  m.unlock();
  together(2, 1, [&](int) {
    std::unique_lock hold(m, 1h);
    EXPECT_TRUE(hold.owns_lock());
  });
  EXPECT_TRUE(m.try_lock_for(std::chrono::hours::max()));
  m.unlock();
}

TEST_P(mutexes, time_limits_and_wakeups_compete) {
  heddle::mutex m;
  long sum = 0;
  std::atomic<long> got{0};
  together(6, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < 200 * heddle_test::stress(); ++k) {
      if (m.try_lock_for(std::chrono::microseconds(c.below(40)))) {
        ++sum;
        ++got;
        if (c.below(2) == 0) heddle::this_thread::yield();
        m.unlock();
      } else if (c.below(3) == 0) {
        m.lock();
        ++sum;
        ++got;
        m.unlock();
      }
    }
    progress();
  });
  EXPECT_EQ(sum, got.load());
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

// The holder takes the lock again at once, for ever; whoever waits must get it all the same.
TEST_P(mutexes, nobody_starves) {
  heddle::mutex m;
  std::atomic<bool> stop{false};
  std::vector<std::thread> greedy;
  for (int i = 0; i < 2; ++i) {
    greedy.emplace_back([&] {
      while (!stop.load()) {
        std::lock_guard hold(m);
        std::atomic_signal_fence(std::memory_order_seq_cst);
      }
    });
  }
  together(3, 1, [&](int) {
    for (int k = 0; k < 50; ++k) {
      std::lock_guard hold(m);
      progress();
    }
  });
  stop = true;
  for (auto& t : greedy) t.join();
}

// The bound itself, step by step on one worker: the holder unlocks and locks again before the woken waiter can run.
// Four times that succeeds; at the fifth the waiter has been handed the lock.
TEST(mutex_fairness, a_waiter_that_lost_four_times_is_handed_the_lock) {
  heddle_test::watchdog dog("mutex_fairness");
  heddle::runtime one({.workers = 1});
  one.run([] {
    heddle::mutex m;
    bool got_it = false;
    m.lock();
    heddle::thread waiter([&] {
      std::lock_guard hold(m);
      got_it = true;
    });
    heddle::this_thread::yield();
    for (int lost = 0; lost < 4; ++lost) {
      m.unlock();
      ASSERT_TRUE(m.try_lock());
      heddle::this_thread::yield();
      ASSERT_FALSE(got_it);
    }
    m.unlock();
    EXPECT_FALSE(m.try_lock());
    waiter.join();
    EXPECT_TRUE(got_it);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST_P(mutexes, a_suspended_holder_keeps_it_while_its_worker_runs_others) {
  heddle::mutex m;
  std::atomic<int> others{0};
  run([&] {
    heddle::latch held(1), release(1);
    heddle::thread holder([&] {
      std::lock_guard hold(m);
      held.count_down();
      release.wait();
    });
    held.wait();
    std::vector<heddle::thread> waiters;
    for (int i = 0; i < 20; ++i) {
      waiters.emplace_back([&] {
        std::lock_guard hold(m);
        ++others;
      });
    }
    heddle::thread bystander([] {});
    bystander.join();
    EXPECT_EQ(others.load(), 0);
    release.count_down();
    holder.join();
    for (auto& t : waiters) t.join();
  });
  EXPECT_EQ(others.load(), 20);
}

TEST_P(mutexes, may_be_destroyed_once_nobody_needs_it) {
  for (int k = 0; k < 200 * heddle_test::stress(); ++k) {
    heddle_test::destroyed_by_the_last_holder<heddle::mutex>(k, [&](const auto& body) { together(3, 1, body); });
    progress();
  }
}

TEST_P(mutexes, two_runtimes_share_one) {
  heddle::runtime second({.workers = 2});
  heddle::mutex m;
  long sum = 0;
  std::vector<heddle::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back(heddle::thread_options{.where = i % 2 == 0 ? &runtime() : &second}, [&, i] {
      heddle_test::chance c(i);
      for (int k = 0; k < 1000; ++k) {
        std::lock_guard hold(m);
        const long before = sum;
        if (c.below(32) == 0) heddle::this_thread::yield();
        sum = before + 1;
      }
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(sum, 8000);
}

// Points of time that the clock's own unit, or nanoseconds, cannot hold.
TEST_P(mutexes, time_limits_of_any_range) {
  using system = std::chrono::system_clock;
  using std::chrono::seconds;
  runtime().run([] {
    heddle::mutex m;
    m.lock();
    heddle::thread other([&m] {
      EXPECT_FALSE(m.try_lock_until(system::time_point::min()));
      EXPECT_FALSE(m.try_lock_until(std::chrono::steady_clock::time_point::min()));
      EXPECT_FALSE(m.try_lock_until(std::chrono::time_point<std::chrono::steady_clock, seconds>::min()));
      EXPECT_FALSE(m.try_lock_until(std::chrono::time_point<system, seconds>::min()));
      EXPECT_FALSE(m.try_lock_until(system::now() - 1s));
    });
    other.join();
    heddle::latch far(1), farther(1), four_centuries(1);
    const auto waits = [&m](auto when, heddle::latch& begun) {
      begun.count_down();
      EXPECT_TRUE(m.try_lock_until(when));
      m.unlock();
    };
    heddle::thread a(waits, std::chrono::time_point<system, seconds>::max(), std::ref(far));
    heddle::thread b(waits, std::chrono::time_point<std::chrono::steady_clock, std::chrono::hours>::max(),
                     std::ref(farther));
    heddle::thread c(waits, std::chrono::time_point<system, seconds>(seconds(13'600'000'000)),
                     std::ref(four_centuries));
    far.wait();
    farther.wait();
    four_centuries.wait();
    for (int i = 0; i < 100; ++i) heddle::this_thread::yield();
    m.unlock();
    a.join();
    b.join();
    c.join();
  });
}

HEDDLE_OVER_RUNTIMES(mutexes);

}  // namespace
}  // namespace mutex_test
