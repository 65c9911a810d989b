// When pauses before a wait are made, and when they are left out.
#include "sync/spin_habit.hpp"

#include <gtest/gtest.h>

namespace spin_habit_test {
namespace {

using heddle::sync::spin_habit;

void fail(spin_habit& h, unsigned times) {
  for (unsigned i = 0; i < times; ++i) h.learn(false);
}

TEST(spin_habit, pauses_are_left_out_after_some_in_vain_and_tried_again_now_and_then) {
  spin_habit h;
  fail(h, spin_habit::most_in_vain - 1);
  EXPECT_TRUE(h.are_tried());
  fail(h, 1);
  unsigned tried = 0;
  for (unsigned i = 0; i < 100 * spin_habit::tried_again; ++i) {
    if (!h.are_tried()) continue;
    ++tried;
    h.learn(false);
  }
  EXPECT_EQ(tried, 100u);
}

TEST(spin_habit, one_success_brings_them_back) {
  spin_habit h;
  fail(h, 10 * spin_habit::most_in_vain);
  EXPECT_FALSE(h.are_tried());
  h.learn(true);
  for (unsigned i = 0; i < 100; ++i) EXPECT_TRUE(h.are_tried());
  fail(h, spin_habit::most_in_vain - 1);
  EXPECT_TRUE(h.are_tried()) << "only those in a row count";
}

}  // namespace
}  // namespace spin_habit_test
