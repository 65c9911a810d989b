// condition_variable: notification, predicates, time limits, stop tokens, destruction.
#include <heddle/condition_variable.hpp>
#include <heddle/latch.hpp>

#include <atomic>
#include <mutex>
#include <stop_token>

#include "support/waiting.hpp"

namespace condition_variable_test {
namespace {

using namespace std::chrono_literals;

class condition_variables : public heddle_test::waiting {};

TEST_P(condition_variables, notify_one_wakes_one_at_a_time) {
  heddle::mutex m;
  heddle::condition_variable changed;
  int tokens = 0, taken = 0;
  together(6, 2, [&](int i) {
    if (i < 2) {
      for (int k = 0; k < 300; ++k) {
        {
          std::lock_guard hold(m);
          ++tokens;
        }
        changed.notify_one();
        if (k % 8 == 0) heddle::this_thread::yield();
      }
    } else {
      for (int k = 0; k < 100; ++k) {
        std::unique_lock hold(m);
        changed.wait(hold, [&] { return tokens > 0; });
        ASSERT_TRUE(hold.owns_lock());
        --tokens;
        ++taken;
      }
    }
    progress();
  });
  EXPECT_EQ(taken, 600);
  EXPECT_EQ(tokens, 0);
}

TEST_P(condition_variables, notify_all_wakes_all) {
  heddle::mutex m;
  heddle::condition_variable changed;
  for (int round = 1; round <= 20; ++round) {
    int phase = 0, arrived = 0;
    together(9, 3, [&](int i) {
      std::unique_lock hold(m);
      if (i == 0) {
        changed.wait(hold, [&] { return arrived == 11; });
        phase = round;
        changed.notify_all();
        return;
      }
      ++arrived;
      changed.notify_all();
      changed.wait(hold, [&] { return phase == round; });
    });
    progress();
  }
}

TEST_P(condition_variables, ping_pong) {
  heddle::mutex m;
  heddle::condition_variable changed;
  int turn = 0;
  const int rounds = 500 * heddle_test::stress();
  together(1, 1, [&](int i) {
    for (int k = 0; k < rounds; ++k) {
      std::unique_lock hold(m);
      changed.wait(hold, [&] { return turn % 2 == i; });
      ++turn;
      changed.notify_one();
    }
    progress();
  });
  EXPECT_EQ(turn, 2 * rounds);
}

TEST_P(condition_variables, a_time_limit_ends_the_wait_with_the_lock_held) {
  heddle::mutex m;
  heddle::condition_variable changed;
  together(4, 2, [&](int) {
    std::unique_lock hold(m);
    EXPECT_EQ(changed.wait_for(hold, 1ms), heddle::cv_status::timeout);
    EXPECT_TRUE(hold.owns_lock());
    EXPECT_FALSE(m.try_lock());
    EXPECT_FALSE(changed.wait_until(hold, std::chrono::system_clock::now() + 1ms, [] { return false; }));
    EXPECT_TRUE(changed.wait_for(hold, 0s, [] { return true; }));
    EXPECT_FALSE(changed.wait_for(hold, -1s, [] { return false; }));
  });
}

// No notification is lost to a waiter that gives up: the tokens are all taken in the end.
TEST_P(condition_variables, time_limits_and_notifications_compete) {
  heddle::mutex m;
  heddle::condition_variable changed;
  int tokens = 0;
  std::atomic<int> taken{0};
  const int total = 400 * heddle_test::stress();
  together(6, 2, [&](int i) {
    heddle_test::chance c(i);
    if (i == 0) {
      for (int k = 0; k < total; ++k) {
        {
          std::lock_guard hold(m);
          ++tokens;
        }
        changed.notify_one();
        c.maybe_yield();
      }
      return;
    }
    for (;;) {
      std::unique_lock hold(m);
      changed.wait_for(hold, std::chrono::microseconds(c.below(50)), [&] { return tokens > 0; });
      if (tokens > 0) {
        --tokens;
        ++taken;
        progress();
      }
      if (taken.load() == total) return;
    }
  });
  EXPECT_EQ(taken.load(), total);
}

TEST_P(condition_variables, a_stop_request_ends_the_wait) {
  heddle::mutex m;
  heddle::condition_variable changed;
  for (int round = 0; round < 50 * heddle_test::stress(); ++round) {
    std::stop_source source;
    std::atomic<int> stopped{0};
    together(5, 2, [&](int i) {
      heddle_test::chance c(round * 8 + i);
      if (i == 0) {
        for (unsigned k = c.below(10); k > 0; --k) heddle::this_thread::yield();
        source.request_stop();
        return;
      }
      std::unique_lock hold(m);
      const bool ready = i % 2 == 0 ? changed.wait(hold, source.get_token(), [] { return false; })
                                    : changed.wait_for(hold, source.get_token(), 1h, [] { return false; });
      EXPECT_FALSE(ready);
      EXPECT_TRUE(hold.owns_lock());
      ++stopped;
    });
    EXPECT_EQ(stopped.load(), 6);
    progress();
  }
}

TEST_P(condition_variables, stop_requests_time_limits_and_notifications_compete) {
  heddle::mutex m;
  heddle::condition_variable changed;
  bool ready = false;
  for (int round = 0; round < 100 * heddle_test::stress(); ++round) {
    std::stop_source source;
    ready = false;
    together(4, 1, [&](int i) {
      heddle_test::chance c(round * 8 + i);
      c.maybe_yield();
      if (i == 0) {
        source.request_stop();
      } else if (i == 1) {
        std::lock_guard hold(m);
        ready = true;
        changed.notify_all();
      } else {
        std::unique_lock hold(m);
        changed.wait_for(hold, source.get_token(), std::chrono::microseconds(c.below(60)), [&] { return ready; });
        EXPECT_TRUE(hold.owns_lock());
      }
    });
    progress();
  }
}

TEST_P(condition_variables, a_token_that_cannot_stop_is_as_none) {
  heddle::mutex m;
  heddle::condition_variable changed;
  run([&] {
    std::unique_lock hold(m);
    EXPECT_TRUE(changed.wait(hold, std::stop_token(), [] { return true; }));
    EXPECT_FALSE(changed.wait_for(hold, std::stop_token(), 1ms, [] { return false; }));
  });
}

// All waiters are notified; whoever learns of it first destroys the object, with some not yet returned.
TEST_P(condition_variables, may_be_destroyed_once_all_are_notified) {
  for (int round = 0; round < 100 * heddle_test::stress(); ++round) {
    heddle::mutex m;
    auto* changed = new heddle::condition_variable;
    bool ready = false;
    int inside = 0;
    together(4, 1, [&](int i) {
      heddle_test::chance c(round * 8 + i);
      if (i == 0) {
        for (;;) {
          std::unique_lock hold(m);
          if (inside < 4) {
            hold.unlock();
            heddle::this_thread::yield();
            continue;
          }
          ready = true;
          changed->notify_all();
          delete changed;
          return;
        }
      }
      std::unique_lock hold(m);
      ++inside;
      if (i % 2 == 0) {
        changed->wait(hold);  // no reason to wake but the one notification
      } else {
        changed->wait_for(hold, 1h);
      }
      EXPECT_TRUE(ready);
    });
    progress();
  }
}

HEDDLE_OVER_RUNTIMES(condition_variables);

}  // namespace
}  // namespace condition_variable_test
