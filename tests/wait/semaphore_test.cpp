// counting_semaphore: permits are neither lost nor made; time limits; destruction.
#include <heddle/semaphore.hpp>

#include <atomic>

#include "support/waiting.hpp"

namespace semaphore_test {
namespace {

using namespace std::chrono_literals;

class semaphores : public heddle_test::waiting {};

TEST_P(semaphores, never_more_inside_than_permits) {
  heddle::counting_semaphore<8> room(3);
  std::atomic<int> inside{0}, most{0};
  together(8, 3, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < 200 * heddle_test::stress(); ++k) {
      room.acquire();
      const int now = ++inside;
      EXPECT_LE(now, 3);
      int seen = most.load();
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      c.maybe_yield();
      --inside;
      room.release();
    }
    progress();
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(room.try_acquire());
  EXPECT_FALSE(room.try_acquire());
}

TEST_P(semaphores, release_of_many_wakes_as_many) {
  heddle::semaphore s(0);
  std::atomic<int> through{0};
  together(8, 3, [&](int i) {
    if (i == 0) {
      s.release(4);
      while (through.load() < 4) heddle::this_thread::yield();
      EXPECT_FALSE(s.try_acquire());
      s.release(6);
      return;
    }
    s.acquire();
    ++through;
  });
  EXPECT_EQ(through.load(), 10);
  EXPECT_FALSE(s.try_acquire());
}

TEST_P(semaphores, hand_over_in_both_directions) {
  heddle::binary_semaphore ping(0), pong(0);
  int value = 0;
  const int rounds = 1000 * heddle_test::stress();
  together(1, 1, [&](int i) {
    for (int k = 0; k < rounds; ++k) {
      if (i == 0) {
        value = k;
        ping.release();
        pong.acquire();
        EXPECT_EQ(value, k + 1);
      } else {
        ping.acquire();
        EXPECT_EQ(value, k);
        value = k + 1;
        pong.release();
      }
    }
  });
}

TEST_P(semaphores, a_time_limit_ends_the_wait) {
  heddle::binary_semaphore s(0);
  together(4, 2, [&](int) {
    EXPECT_FALSE(s.try_acquire_for(1ms));
    EXPECT_FALSE(s.try_acquire_until(std::chrono::system_clock::now() + 1ms));
    EXPECT_FALSE(s.try_acquire_for(0s));
  });
  s.release();
  EXPECT_TRUE(s.try_acquire_for(1h));
}

TEST_P(semaphores, time_limits_and_permits_compete) {
  heddle::semaphore s(0);
  std::atomic<long> given{0}, taken{0};
  together(6, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < 300 * heddle_test::stress(); ++k) {
      if (i % 4 == 0) {  // few permits: most waits run into their limits
        const int n = 1 + static_cast<int>(c.below(3));
        given += n;
        s.release(n);
        for (unsigned y = c.below(12); y > 0; --y) heddle::this_thread::yield();
      } else if (s.try_acquire_for(std::chrono::microseconds(c.below(40)))) {
        ++taken;
      }
    }
    progress();
  });
  while (s.try_acquire()) ++taken;
  EXPECT_EQ(given.load(), taken.load());
}

// A semaphore on the waiter's stack: gone as soon as the permit is there, perhaps before release() has returned.
TEST_P(semaphores, may_be_destroyed_by_whoever_took_the_permit) {
  for (int k = 0; k < 300 * heddle_test::stress(); ++k) {
    auto* s = new heddle::binary_semaphore(0);
    together(2, k % 2, [&](int i) {
      heddle_test::chance c(k * 4 + i);
      c.maybe_yield();
      if (i == 0) {
        s->acquire();
        delete s;
      } else if (i == 1) {
        s->release();
      }
    });
    progress();
  }
}

HEDDLE_OVER_RUNTIMES(semaphores);

}  // namespace
}  // namespace semaphore_test
