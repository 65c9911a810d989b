// shared_mutex: readers together, writers alone, nobody starves, time limits.
#include <heddle/latch.hpp>
#include <heddle/shared_mutex.hpp>

#include <atomic>
#include <mutex>
#include <shared_mutex>

#include "support/waiting.hpp"
#include "tests/wait/last_holder.hpp"

namespace shared_mutex_test {
namespace {

using namespace std::chrono_literals;

class shared_mutexes : public heddle_test::waiting {};

TEST_P(shared_mutexes, writers_exclude_all_and_readers_see_whole_writes) {
  heddle::shared_mutex m;
  long a = 0, b = 0;
  std::atomic<int> readers{0}, writers{0};
  const int each = 500 * heddle_test::stress();
  together(6, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < each; ++k) {
      if (c.below(4) == 0) {
        std::lock_guard hold(m);
        EXPECT_EQ(++writers, 1);
        EXPECT_EQ(readers.load(), 0);
        ++a;
        if (c.below(16) == 0) heddle::this_thread::yield();
        ++b;
        --writers;
      } else {
        std::shared_lock hold(m);
        ++readers;
        EXPECT_EQ(writers.load(), 0);
        EXPECT_EQ(a, b);
        if (c.below(16) == 0) heddle::this_thread::yield();
        --readers;
      }
    }
    progress();
  });
  EXPECT_EQ(a, b);
}

TEST_P(shared_mutexes, readers_are_inside_together) {
  heddle::shared_mutex m;
  heddle::latch all(5);
  together(4, 1, [&](int) {
    std::shared_lock hold(m);
    all.arrive_and_wait();  // ends only if all five hold it at a time
  });
}

TEST_P(shared_mutexes, a_waiting_writer_holds_up_new_readers_but_not_for_ever) {
  heddle::shared_mutex m;
  run([&] {
    m.lock_shared();
    heddle::thread writer([&] { std::lock_guard hold(m); });
    while (m.try_lock_shared()) {  // as long as the writer is not in the queue
      m.unlock_shared();
      heddle::this_thread::yield();
    }
    EXPECT_FALSE(m.try_lock_shared_for(100us));
    EXPECT_FALSE(m.try_lock());
    m.unlock_shared();
    writer.join();
    EXPECT_TRUE(m.try_lock_shared());
    m.unlock_shared();
  });
}

// The writer in front of waiting readers gives up: they must come in to the reader that holds it.
TEST_P(shared_mutexes, readers_behind_a_writer_that_gives_up_come_in) {
  heddle::shared_mutex m;
  run([&] {
    m.lock_shared();
    heddle::latch in(3);
    // A busy machine may keep us from looking for longer than one attempt lasts.
    std::atomic<bool> was_seen{false};
    heddle::thread writer([&] {
      while (!was_seen.load()) EXPECT_FALSE(m.try_lock_for(2ms));
    });
    while (m.try_lock_shared()) {
      m.unlock_shared();
      heddle::this_thread::yield();
    }
    was_seen = true;
    std::vector<heddle::thread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&] {
        std::shared_lock hold(m);
        in.arrive_and_wait();
      });
    }
    in.wait();
    writer.join();
    for (auto& t : readers) t.join();
    m.unlock_shared();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST_P(shared_mutexes, time_limits_and_hand_over_compete) {
  heddle::shared_mutex m;
  long sum = 0;
  std::atomic<long> written{0};
  together(6, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < 300 * heddle_test::stress(); ++k) {
      const auto limit = std::chrono::microseconds(c.below(30));
      if (c.below(3) == 0) {
        if (m.try_lock_for(limit)) {
          ++sum;
          ++written;
          c.maybe_yield();
          m.unlock();
        }
      } else if (m.try_lock_shared_for(limit)) {
        c.maybe_yield();
        m.unlock_shared();
      }
    }
    progress();
  });
  EXPECT_EQ(sum, written.load());
  EXPECT_TRUE(m.try_lock());  // nobody is left inside
  m.unlock();
}

TEST_P(shared_mutexes, neither_side_starves) {
  heddle::shared_mutex m;
  std::atomic<bool> stop{false};
  std::vector<std::thread> greedy;
  for (int i = 0; i < 2; ++i) {
    greedy.emplace_back([&, i] {
      while (!stop.load()) {
        if (i == 0) std::shared_lock hold(m);
        else std::lock_guard hold(m);
      }
    });
  }
  together(3, 1, [&](int i) {
    for (int k = 0; k < 50; ++k) {
      if (i % 2 == 0) std::shared_lock hold(m);
      else std::lock_guard hold(m);
      progress();
    }
  });
  stop = true;
  for (auto& t : greedy) t.join();
}

TEST_P(shared_mutexes, may_be_destroyed_once_nobody_needs_it) {
  for (int k = 0; k < 100 * heddle_test::stress(); ++k) {
    heddle_test::destroyed_by_the_last_holder<heddle::shared_mutex>(k, [&](const auto& body) { together(3, 1, body); });
    progress();
  }
}

HEDDLE_OVER_RUNTIMES(shared_mutexes);

}  // namespace
}  // namespace shared_mutex_test
