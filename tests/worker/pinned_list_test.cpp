// The list of the ready threads that are pinned to one worker.
#include "worker/gangs/pinned.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"
#include "worker/order/priorities.hpp"

namespace pinned_list_test {
namespace {

using heddle::fiber::thread;
using heddle::worker::highest_level;
using heddle::worker::lowest_level;
using heddle::worker::pinned_threads;

thread& at(thread& t, int level) {
  t.level = static_cast<std::int8_t>(level);
  return t;
}

TEST(pinned_list, the_highest_and_oldest_comes_first) {
  pinned_threads list;
  const std::unique_ptr<thread[]> all(new thread[6]);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.highest(), pinned_threads::none);
  const int levels[] = {0, lowest_level, highest_level, 0, -1, highest_level};
  for (int i = 0; i < 6; ++i) list.push(at(all[i], levels[i]), false);
  EXPECT_EQ(list.highest(), highest_level);
  EXPECT_EQ(list.take(1), &all[2]);
  EXPECT_EQ(list.take(1), &all[5]);
  EXPECT_EQ(list.take(1), nullptr);
  EXPECT_EQ(list.highest(), 0);
  EXPECT_EQ(list.take(lowest_level), &all[0]);
  list.push(all[0], true);  // it could not run: as it was
  EXPECT_EQ(list.take(0), &all[0]);
  EXPECT_EQ(list.take(0), &all[3]);
  EXPECT_EQ(list.take(0), nullptr);
  EXPECT_EQ(list.take(lowest_level), &all[4]);
  EXPECT_EQ(list.take(lowest_level), &all[1]);
  EXPECT_EQ(list.take(lowest_level), nullptr);
  EXPECT_TRUE(list.empty());
}

TEST(pinned_list, one_whose_level_was_raised_is_found_there) {
  pinned_threads list;
  thread a, b;
  list.push(at(a, -2), false);
  list.push(at(b, 0), false);
  a.level = 3;
  list.sort();
  EXPECT_EQ(list.highest(), 3);
  EXPECT_EQ(list.take(1), &a);
  EXPECT_EQ(list.take(-7), &b);
  EXPECT_TRUE(list.empty());
}

// Of the normal level none starves: they have every other choice.
TEST(pinned_list, who_waits_for_long_beside_the_normal_level) {
  pinned_threads list;
  thread low, high, normal;
  list.push(at(normal, 0), false);
  list.push(at(low, -1), false);
  list.push(at(high, 1), false);
  low.listed.ready_since = 10;
  high.listed.ready_since = 20;
  normal.listed.ready_since = 1;
  EXPECT_EQ(list.take_starved(10), nullptr);
  EXPECT_EQ(list.take_starved(21), &low);
  EXPECT_EQ(list.take_starved(21), &high);
  EXPECT_EQ(list.take_starved(std::numeric_limits<std::uint64_t>::max()), nullptr);
  EXPECT_EQ(list.take(0), &normal);
}

TEST(pinned_list, many_push_and_one_takes) {
  const int each = 2000 * heddle_test::stress();
  constexpr int pushers = 3;
  pinned_threads list;
  const std::unique_ptr<thread[]> all(new thread[static_cast<std::size_t>(each) * pushers]);
  std::vector<std::thread> threads;
  for (int p = 0; p < pushers; ++p) {
    threads.emplace_back([&, p] {
      for (int i = 0; i < each; ++i) {
        thread& t = all[static_cast<std::size_t>(p) * each + i];
        t.id = static_cast<std::uint64_t>(i);
        list.push(at(t, p - 1), false);
      }
    });
  }
  std::vector<std::uint64_t> next(pushers, 0);
  for (int left = each * pushers; left > 0;) {
    thread* const t = list.take(lowest_level);
    if (t == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(t->id, next[static_cast<std::size_t>(t->level.load() + 1)]++);
    --left;
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace pinned_list_test
