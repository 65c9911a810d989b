// The lists of ready threads beside the normal level.
#include "worker/order/priorities.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/runtimes.hpp"

namespace priorities_test {
namespace {

using heddle::fiber::thread;
using heddle::worker::highest_level;
using heddle::worker::lowest_level;
using heddle::worker::position;
using heddle::worker::priorities;

struct blocks {
  explicit blocks(unsigned count) : all(new thread[count]) {
    for (unsigned i = 0; i < count; ++i) all[i].id = i;
  }
  thread& at(unsigned i, int level) {
    all[i].level = static_cast<std::int8_t>(level);
    return all[i];
  }
  std::unique_ptr<thread[]> all;
};

TEST(priorities, above_normal_the_highest_and_oldest_comes_first) {
  priorities p(2);
  blocks b(4);
  EXPECT_FALSE(p.any());
  EXPECT_TRUE(p.push(b.at(0, 1), 0, position::on_top));
  EXPECT_TRUE(p.push(b.at(1, highest_level), 1, position::behind));
  EXPECT_TRUE(p.push(b.at(2, 1), 1, position::on_top));
  EXPECT_TRUE(p.push(b.at(3, highest_level), 0, position::on_top));
  EXPECT_TRUE(p.any());
  EXPECT_EQ(p.take_high(2), &b.all[1]);
  EXPECT_EQ(p.take_high(1), &b.all[3]);
  EXPECT_EQ(p.take_high(2), nullptr);
  EXPECT_EQ(p.take_high(1), &b.all[0]);
  EXPECT_EQ(p.take_high(1), &b.all[2]);
  EXPECT_EQ(p.take_high(1), nullptr);
  EXPECT_FALSE(p.any());
}

TEST(priorities, below_normal_the_own_newest_then_the_others_oldest) {
  priorities p(2);
  blocks b(7);
  for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(p.push(b.at(i, -1), 0, position::on_top));
  for (unsigned i = 3; i < 5; ++i) EXPECT_TRUE(p.push(b.at(i, -1), 1, position::on_top));
  EXPECT_TRUE(p.push(b.at(5, -2), 0, position::on_top));
  EXPECT_TRUE(p.push(b.at(6, -1), 0, position::behind));  // its time slice has ended: behind the others
  for (const unsigned expected : {2u, 1u, 0u, 6u, 3u, 4u, 5u}) {
    thread* t = p.take_low(0, lowest_level);
    ASSERT_NE(t, nullptr);
    EXPECT_EQ(t->id, expected);
  }
  EXPECT_EQ(p.take_low(0, lowest_level), nullptr);
  EXPECT_FALSE(p.any());
}

TEST(priorities, nothing_below_the_limit_is_taken) {
  priorities p(1);
  blocks b(1);
  EXPECT_TRUE(p.push(b.at(0, -3), 0, position::on_top));
  EXPECT_EQ(p.take_low(0, -2), nullptr);
  EXPECT_FALSE(p.any_low(-2));
  EXPECT_TRUE(p.any_low(-3));
  EXPECT_EQ(p.take_low(0, -3), &b.all[0]);
}

TEST(priorities, the_oldest_of_a_pile_is_not_forgotten) {
  priorities p(1);
  blocks b(2);
  EXPECT_TRUE(p.push(b.at(0, -1), 0, position::on_top));
  EXPECT_TRUE(p.push(b.at(1, -1), 0, position::on_top));
  for (int i = 0; i < 100; ++i) {  // whoever runs is evicted each time
    thread* t = p.take_low(0, -1);
    if (t == &b.all[0]) return;
    EXPECT_TRUE(p.push(*t, 0, position::on_top));
  }
  FAIL() << "the newest was taken a hundred times";
}

TEST(priorities, whose_slice_ends_gives_way_to_the_fuller_pile) {
  priorities p(3);
  blocks b(4);
  EXPECT_TRUE(p.push(b.at(0, -1), 0, position::behind));
  for (unsigned i = 1; i < 4; ++i) EXPECT_TRUE(p.push(b.at(i, -1), 2, position::on_top));
  EXPECT_EQ(p.take_low(0, -1, true), &b.all[1]);  // the other's oldest: there are two more
  EXPECT_EQ(p.take_low(0, -1, true), &b.all[0]);  // one more
}

TEST(priorities, who_has_been_ready_for_longest_is_found_on_every_level) {
  priorities p(2);
  blocks b(6);
  const int levels[] = {-1, -3, 2, 1, -1};
  for (unsigned i = 0; i < 5; ++i) {  // as one that was taken and could not run: it keeps its time
    b.at(i, levels[i]).listed.ready_since = 10 + i;
    EXPECT_TRUE(p.push(b.all[i], i % 2, position::back));
  }
  EXPECT_TRUE(p.push(b.at(5, 7), 0, position::on_top));
  EXPECT_EQ(p.take_starved(10), nullptr);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(p.take_starved(14), &b.all[i]) << i;
  EXPECT_EQ(p.take_starved(14), nullptr);
  EXPECT_EQ(p.take_starved(15), &b.all[4]);
  EXPECT_EQ(p.take_high(1), &b.all[5]);
  EXPECT_FALSE(p.any());
}

TEST(priorities, nothing_is_lost_or_taken_twice) {
  constexpr unsigned workers = 4, each = 60;
  const int rounds = 2000 * heddle_test::stress();
  priorities p(workers);
  blocks b(workers * each);
  std::unique_ptr<std::atomic<int>[]> held(new std::atomic<int>[workers * each] {});
  std::vector<std::thread> all;
  for (unsigned r = 0; r < workers; ++r) {
    all.emplace_back([&, r] {
      for (unsigned i = 0; i < each; ++i)
        EXPECT_TRUE(p.push(b.at(r * each + i, static_cast<int>(i % 15) - 7 == 0 ? 1 : static_cast<int>(i % 15) - 7), r,
                           position::on_top));
      for (int i = 0; i < rounds; ++i) {
        thread* t = i % 2 == 0 ? p.take_high(1) : p.take_low(r, lowest_level);
        if (t == nullptr) continue;
        EXPECT_EQ(held[t->id].fetch_add(1), 0);
        held[t->id].fetch_sub(1);
        EXPECT_TRUE(p.push(*t, r, i % 3 == 0 ? position::behind : position::on_top));
      }
    });
  }
  for (auto& t : all) t.join();
  unsigned found = 0;
  while (p.take_high(1) != nullptr) ++found;
  while (p.take_low(0, lowest_level) != nullptr) ++found;
  EXPECT_EQ(found, workers * each);
  EXPECT_FALSE(p.any());
}

}  // namespace
}  // namespace priorities_test
