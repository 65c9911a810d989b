// A lock whose owner pays two plain stores: nobody is inside beside another, and what one wrote the next one sees.
#include "sync/owner_lock.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "platform/platform.hpp"
#include "tests/support/runtimes.hpp"

namespace owner_lock_test {
namespace {

using heddle::sync::owner_lock;

TEST(owner_lock, keeps_others_out) {
  owner_lock lock;
  lock.enter();
  EXPECT_FALSE(lock.try_visit());
  lock.leave();
  ASSERT_TRUE(lock.try_visit());
  EXPECT_FALSE(lock.try_visit());
  EXPECT_FALSE(lock.try_enter());
  lock.end_visit();
  EXPECT_TRUE(lock.try_enter());
  lock.leave();
}

// The owner and two visitors change two plain numbers, which are equal whenever nobody is inside.
TEST(owner_lock, one_at_a_time_and_what_it_wrote) {
  const int rounds = (heddle_test::whole() ? 20'000 : 5'000) * heddle_test::stress();
  owner_lock lock;
  long left = 0, right = 0;
  std::atomic<bool> ended{false};
  std::atomic<long> visits{0}, torn{0};
  const auto change = [&] {
    if (left != right) ++torn;
    ++left;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    ++right;
  };
  std::vector<std::thread> visitors;
  for (int v = 0; v < 2; ++v) {
    visitors.emplace_back([&] {
      while (!ended.load()) {
        if (!lock.try_visit()) continue;
        change();
        lock.end_visit();
        ++visits;
      }
    });
  }
  long entered = 0;
  for (int i = 0; i < rounds || visits.load() == 0; ++i) {
    if (i % 4 == 0) {
      if (!lock.try_enter()) continue;
    } else {
      lock.enter();
    }
    change();
    lock.leave();
    ++entered;
  }
  ended.store(true);
  for (std::thread& v : visitors) v.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(left, entered + visits);
  EXPECT_EQ(right, left);
}

}  // namespace
}  // namespace owner_lock_test
