// The set of sleeping workers: whoever goes to sleep is woken by exactly one, or takes itself back.
#include "sync/idle_set.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/runtimes.hpp"

namespace idle_set_test {
namespace {

using heddle::sync::idle_set;

TEST(idle_set, chooses_from_a_place_upwards_and_around) {
  idle_set idle(130);  // three words of bits, the last with two
  for (const unsigned rank : {3u, 64u, 129u}) idle.announce(rank);
  EXPECT_TRUE(idle.anyone_asleep());
  EXPECT_TRUE(idle.is_asleep(64));
  EXPECT_FALSE(idle.is_asleep(65));
  EXPECT_EQ(idle.choose(65), 129);
  EXPECT_EQ(idle.choose(65), 3);
  EXPECT_EQ(idle.choose(65), 64);
  EXPECT_EQ(idle.choose(65), -1);
  EXPECT_FALSE(idle.anyone_asleep());
}

TEST(idle_set, looks_at_what_lies_below_the_start_in_its_word) {
  idle_set idle(64);
  idle.announce(5);
  EXPECT_EQ(idle.choose(6), 5);
}

TEST(idle_set, who_was_chosen_cannot_take_itself_back) {
  idle_set idle(2);
  idle.announce(1);
  EXPECT_TRUE(idle.retract(1));
  EXPECT_FALSE(idle.anyone_asleep());
  idle.announce(1);
  EXPECT_EQ(idle.choose(0), 1);
  EXPECT_FALSE(idle.retract(1));
  EXPECT_FALSE(idle.anyone_asleep());
}

TEST(idle_set, somebody_searches_until_the_last_one_ends) {
  idle_set idle(3);
  idle.begin_search();
  idle.begin_search();
  idle.end_search();
  EXPECT_TRUE(idle.anyone_searching());
  idle.end_search();
  EXPECT_FALSE(idle.anyone_searching());
}

// Sleepers of 70 ranks, in two words, announce and take themselves back while others choose: each announcement is ended
// once.
TEST(idle_set, every_announcement_is_ended_by_one) {
  constexpr unsigned ranks = 70;
  constexpr unsigned sleepers = 3;
  const int rounds = (heddle_test::whole() ? 20'000 : 5'000) * heddle_test::stress();
  idle_set idle(ranks);
  std::vector<std::atomic<int>> tokens(ranks);
  std::atomic<int> still{static_cast<int>(sleepers)};
  std::atomic<long> retracted{0}, chosen{0};
  std::vector<std::thread> threads;
  for (unsigned s = 0; s < sleepers; ++s) {
    threads.emplace_back([&, s] {
      for (int i = 0; i < rounds; ++i) {
        const unsigned rank = s + sleepers * (static_cast<unsigned>(i) % (ranks / sleepers));
        idle.announce(rank);
        if (i % 3 != 0) std::this_thread::yield();
        if (idle.retract(rank)) {
          ++retracted;
          continue;
        }
        while (tokens[rank].load() == 0) std::this_thread::yield();
        EXPECT_EQ(tokens[rank].fetch_sub(1), 1);
      }
      --still;
    });
  }
  for (unsigned w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      for (unsigned start = 35 * w; still.load() > 0; start = (start + 1) % ranks) {
        const int rank = idle.choose(start);
        if (rank < 0) {
          std::this_thread::yield();  // there may be fewer processors than threads
          continue;
        }
        ++chosen;
        tokens[static_cast<unsigned>(rank)].fetch_add(1);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(retracted + chosen, static_cast<long>(sleepers) * rounds);
  EXPECT_FALSE(idle.anyone_asleep());
  EXPECT_EQ(idle.choose(0), -1);
}

}  // namespace
}  // namespace idle_set_test
