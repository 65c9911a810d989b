// cancellable_barrier: phases, and the same answer for all when somebody calls it off.
#include <heddle/cancellable_barrier.hpp>

#include <array>
#include <atomic>
#include <vector>

#include "support/sanitized.hpp"
#include "support/waiting.hpp"

namespace cancellable_barrier_test {
namespace {

class cancellable_barriers : public heddle_test::waiting {};

TEST_P(cancellable_barriers, nobody_is_a_phase_ahead) {
  constexpr int threads = 6;
  const int phases = 200 * heddle_test::stress();
  std::array<std::atomic<int>, threads> at{};
  heddle::cancellable_barrier meeting(threads);
  together(4, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int p = 1; p <= phases; ++p) {
      at[i] = p;
      c.maybe_yield();
      EXPECT_TRUE(meeting.arrive_and_wait());
      for (const auto& other : at) EXPECT_GE(other.load(), p);
      EXPECT_TRUE(meeting.arrive_and_wait());
    }
    progress();
  });
  EXPECT_FALSE(meeting.is_cancelled());
}

// Each phase ends in the same way for all, whoever cancels it and when.
TEST_P(cancellable_barriers, all_get_the_same_answer) {
  constexpr int threads = 5;
  // a round is a millisecond and more under ThreadSanitizer
  const int rounds = (heddle_test::thread_sanitized ? 30 : heddle_test::whole() ? 60 : 20) * heddle_test::stress();
  heddle::cancellable_barrier meeting(threads), between(threads + 1);
  std::array<int, threads> phases{};
  together(4, 2, [&](int i) {
    heddle_test::chance c(i + 1);
    for (int round = 0; round < rounds; ++round) {
      if (i == threads) {
        for (int k = static_cast<int>(c.below(20)); k > 0; --k) heddle::this_thread::yield();
        meeting.cancel();
      } else {
        phases[i] = 0;
        while (meeting.arrive_and_wait()) ++phases[i];
        EXPECT_FALSE(meeting.arrive_and_wait()) << "it stays cancelled";
      }
      EXPECT_TRUE(between.arrive_and_wait());
      if (i == 0) {
        for (const int p : phases) EXPECT_EQ(p, phases[0]);
        EXPECT_TRUE(meeting.is_cancelled());
        meeting.reset(threads);
        progress();
      }
      EXPECT_TRUE(between.arrive_and_wait());
    }
  });
}

TEST_P(cancellable_barriers, who_waits_is_let_go) {
  heddle::cancellable_barrier meeting(3);
  std::atomic<int> let_go{0};
  together(2, 1, [&](int i) {
    if (i == 2) meeting.cancel();
    else if (!meeting.arrive_and_wait()) ++let_go;
  });
  EXPECT_EQ(let_go.load(), 2);
  meeting.reset(1);
  EXPECT_TRUE(meeting.arrive_and_wait());
}

HEDDLE_OVER_RUNTIMES(cancellable_barriers);

}  // namespace
}  // namespace cancellable_barrier_test
