// Whom thieves try, and in which order.
#include <heddle/policy_victims.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/idle_host.hpp"

namespace victims_test {
namespace {

using namespace heddle::policy;
using ::testing::ElementsAre;

// Workers in pairs on two chips of four; notes who is robbed and asked.
class chips final : public heddle_test::idle_host {
 public:
  chips() : idle_host(8) {}
  unsigned distance(unsigned a, unsigned b) const noexcept override {
    return a == b ? 0 : a / 2 == b / 2 ? 1 : a / 4 == b / 4 ? 2 : 3;
  }
  std::uint32_t random(unsigned, std::uint32_t bound) noexcept override { return drawn % bound; }
  entry steal(unsigned, unsigned victim, effort) noexcept override {
    robbed.push_back(victim);
    return victim == rich ? 77 : 0;
  }
  void request(unsigned, unsigned victim) noexcept override { asked.push_back(victim); }

  std::uint32_t drawn{0};
  unsigned rich{nobody};
  std::vector<unsigned> robbed, asked;
};

TEST(victims, a_glance_asks_where_it_finds_nothing) {
  chips host;
  host.rich = 3;
  EXPECT_EQ(rob(host, 0, 3, effort::glance), 77u);
  EXPECT_THAT(host.asked, ElementsAre());
  EXPECT_EQ(rob(host, 0, 4, effort::glance), 0u);
  EXPECT_THAT(host.asked, ElementsAre(4));
  EXPECT_EQ(rob(host, 0, 5, effort::insist), 0u);
  EXPECT_THAT(host.asked, ElementsAre(4)) << "who insists has taken what there was";
}

TEST(victims, others_are_all_but_oneself) {
  const others all(2, 0, 4), none(5, 5, 1), elsewhere(0, 4, 3);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT((std::vector{all[0], all[1], all[2]}), ElementsAre(0, 1, 3));
  EXPECT_EQ(none.size(), 0u);
  ASSERT_EQ(elsewhere.size(), 3u);
  EXPECT_THAT((std::vector{elsewhere[0], elsewhere[1], elsewhere[2]}), ElementsAre(4, 5, 6));
}

TEST(victims, who_insists_tries_all_others_in_a_ring) {
  chips host;
  host.drawn = 5;  // worker 6: 2 is left out
  EXPECT_EQ(others(2, host).rob_at_random(host, effort::insist), 0u);
  EXPECT_THAT(host.robbed, ElementsAre(6, 7, 0, 1, 3, 4, 5));
  host.robbed.clear();
  EXPECT_EQ(others(2, host).rob_at_random(host, effort::glance), 0u);
  EXPECT_THAT(host.robbed, ElementsAre(6));
  host.robbed.clear();
  host.rich = 0;
  EXPECT_EQ(others(2, host).rob_at_random(host, effort::insist), 77u);
  EXPECT_THAT(host.robbed, ElementsAre(6, 7, 0));
}

// Records what worker 0 tries in one glance after the other when only `rich` has work at each.
class remembering : public testing::Test {
 protected:
  unsigned tries(unsigned rich, unsigned drawn, victim_memory& memory) {
    host_.rich = rich;
    host_.drawn = drawn;
    host_.robbed.clear();
    others(0, host_).rob_as_remembered(host_, effort::glance, memory);
    return host_.robbed.at(0);
  }
  chips host_;
};

TEST_F(remembering, at_random_nothing_is) {
  victim_memory memory(victim_memory::rule::random);
  memory.start(8);
  EXPECT_EQ(tries(3, 2, memory), 3u);
  EXPECT_EQ(tries(3, 5, memory), 6u);
  EXPECT_EQ(memory.first(0), nobody);
}

TEST_F(remembering, history_stays_with_the_last_victim_until_it_has_nothing) {
  victim_memory memory(victim_memory::rule::history);
  memory.start(8);
  EXPECT_EQ(tries(3, 2, memory), 3u);
  EXPECT_EQ(tries(3, 5, memory), 3u);
  EXPECT_EQ(tries(3, 5, memory), 3u);
  EXPECT_EQ(tries(nobody, 5, memory), 3u);
  EXPECT_EQ(tries(nobody, 5, memory), 6u) << "it had nothing";
  EXPECT_EQ(tries(nobody, 4, memory), 5u);
  EXPECT_EQ(tries(2, 1, memory), 2u);
  EXPECT_EQ(tries(2, 5, memory), 2u);
}

// Algorithm 3 of the source, step by step; the stack after each step is in the comment.
TEST_F(remembering, hybrid_alternates_and_goes_back) {
  victim_memory memory(victim_memory::rule::hybrid);
  memory.start(8);
  EXPECT_EQ(tries(3, 2, memory), 3u);       // 3 -1
  EXPECT_EQ(tries(6, 5, memory), 6u);       // 3 -1 6 -1: at random after a success
  EXPECT_EQ(tries(nobody, 0, memory), 1u);  // 3 -1 6: at random, in vain
  EXPECT_EQ(tries(6, 0, memory), 6u);       // 3 -1 6 6 -1: back at the last victim
  EXPECT_EQ(tries(nobody, 0, memory), 1u);  // 3 -1 6 6
  EXPECT_EQ(tries(nobody, 0, memory), 6u);  // 3 -1 6
  EXPECT_EQ(tries(nobody, 0, memory), 6u);  // 3 -1
  EXPECT_EQ(tries(nobody, 4, memory), 5u);  // 3
  EXPECT_EQ(tries(nobody, 4, memory), 3u);  // nothing
  EXPECT_EQ(memory.first(0), nobody);
}

TEST_F(remembering, what_is_oldest_is_forgotten) {
  for (const auto rule : {victim_memory::rule::history, victim_memory::rule::hybrid}) {
    victim_memory memory(rule);
    memory.start(8);
    for (unsigned i = 0; i < 1000; ++i) EXPECT_NE(tries(1 + i % 7, i % 7, memory), 0u);
    for (unsigned i = 0; i < 200; ++i) EXPECT_NE(tries(nobody, i % 7, memory), 0u);
    EXPECT_EQ(memory.first(0), nobody) << "everything was in vain";
  }
}

TEST_F(remembering, a_place_that_is_no_longer_there_is_not_tried) {
  victim_memory memory(victim_memory::rule::history);
  memory.start(8);
  EXPECT_EQ(tries(7, 6, memory), 7u);
  host_.robbed.clear();
  EXPECT_EQ(others(0, 0, 4).rob_as_remembered(host_, effort::glance, memory), 0u);
  EXPECT_LT(host_.robbed.at(0), 4u);
}

TEST(victims, rings_are_sorted_by_distance) {
  const chips host;
  const rings by_rank(5, host, rings::order::by_rank);
  EXPECT_THAT(by_rank.workers(), ElementsAre(4, 6, 7, 0, 1, 2, 3));
  ASSERT_EQ(by_rank.count(), 3u);
  EXPECT_EQ(by_rank.size_of(0), 1u);
  EXPECT_EQ(by_rank.begin_of(1), 1u);
  EXPECT_EQ(by_rank.end_of(1), 3u);
  EXPECT_EQ(by_rank.size_of(2), 4u);
  const rings by_circle(2, host, rings::order::by_circle);
  EXPECT_THAT(by_circle.workers(), ElementsAre(3, 0, 1, 4, 5, 6, 7));
}

TEST(victims, going_round_nobody_finds_nothing) {
  EXPECT_EQ(go_round(0, 0, effort::insist, [](unsigned) -> entry { return 1; }), 0u);
  EXPECT_EQ(go_round(0, 0, effort::glance, [](unsigned) -> entry { return 1; }), 0u);
}

}  // namespace
}  // namespace victims_test
