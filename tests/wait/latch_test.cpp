// latch: opens once, for all, at the last count.
#include <heddle/latch.hpp>

#include <atomic>

#include "support/waiting.hpp"

namespace latch_test {
namespace {

class latches : public heddle_test::waiting {};

TEST_P(latches, nobody_passes_before_the_last_count) {
  for (int k = 0; k < 50 * heddle_test::stress(); ++k) {
    heddle::latch gate(6);
    std::atomic<int> counted{0};
    together(8, 3, [&](int i) {
      heddle_test::chance c(k * 16 + i);
      c.maybe_yield();
      if (i < 6) {
        ++counted;
        if (i % 2 == 0) return gate.count_down();
        gate.arrive_and_wait();
      } else {
        gate.wait();
      }
      EXPECT_EQ(counted.load(), 6);
    });
    EXPECT_TRUE(gate.try_wait());
    progress();
  }
}

// Ten threads count down a latch of four: six hear that nothing was left.
TEST_P(latches, a_count_below_zero_is_refused) {
  for (int k = 0; k < 20 * heddle_test::stress(); ++k) {
    heddle::latch gate(4);
    std::atomic<int> refused{0};
    together(9, 2, [&](int i) {
      heddle_test::chance c(k * 16 + i);
      c.maybe_yield();
      if (i == 8) gate.wait();
      else if (!gate.count_down_to_zero()) ++refused;
    });
    EXPECT_EQ(refused.load(), 6) << "of ten";
    EXPECT_TRUE(gate.try_wait());
    EXPECT_FALSE(gate.count_down_to_zero());
    progress();
  }
}

// A count that is too large opens the latch, so no thread sleeps for ever.
TEST_P(latches, a_count_that_is_too_large_opens_it) {
  for (int k = 0; k < 20 * heddle_test::stress(); ++k) {
    heddle::latch gate(2);
    std::atomic<bool> counted{true};
    together(4, 1, [&](int i) {
      heddle_test::chance c(k * 8 + i);
      c.maybe_yield();
      if (i == 2) counted = gate.count_down_to_zero(3);
      else gate.wait();
    });
    EXPECT_FALSE(counted.load());
    progress();
  }
}

TEST(latch_of, a_count_below_zero_ends_the_program) {
  EXPECT_DEATH(
      {
        heddle::latch gate(2);
        gate.count_down(3);
      },
      "more was counted down than the latch was made with");
}

TEST_P(latches, counts_of_any_size) {
  run([] {
    heddle::latch open(0), gate(10);
    open.wait();
    EXPECT_TRUE(open.try_wait());
    gate.count_down(9);
    EXPECT_FALSE(gate.try_wait());
    gate.count_down(0);
    EXPECT_FALSE(gate.try_wait());
    gate.arrive_and_wait();
    gate.count_down(0);
    EXPECT_TRUE(gate.try_wait());
  });
}

TEST_P(latches, may_be_destroyed_once_every_wait_has_returned) {
  for (int k = 0; k < 300 * heddle_test::stress(); ++k) {
    auto* gate = new heddle::latch(1);
    together(2, k % 2, [&](int i) {
      heddle_test::chance c(k * 4 + i);
      c.maybe_yield();
      if (i == 0) {
        gate->wait();
        delete gate;
      } else if (i == 1) {
        gate->count_down();
      }
    });
    progress();
  }
}

HEDDLE_OVER_RUNTIMES(latches);

}  // namespace
}  // namespace latch_test
